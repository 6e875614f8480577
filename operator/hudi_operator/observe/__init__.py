"""Tables as a long-lived process of the engine sees them, asked over a pipe and never on the event loop."""

from hudi_operator.observe.observer import Limits, Observer

__all__ = ["Limits", "Observer"]
