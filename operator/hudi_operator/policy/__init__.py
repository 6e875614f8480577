"""What each namespace may have opened and run for it: the word of whoever runs the operator, not of its users."""

from hudi_operator.policy.environment import scrubbed
from hudi_operator.policy.rules import EVERY_OTHER, Policy, Rules

__all__ = ["EVERY_OTHER", "Policy", "Rules", "scrubbed"]
