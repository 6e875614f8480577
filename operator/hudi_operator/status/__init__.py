"""What stands in a resource's status: made of what is seen and decided, and the same for the same."""

from hudi_operator.status.whole import status_of

__all__ = ["status_of"]
