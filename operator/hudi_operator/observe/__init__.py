"""Tables as a long-lived process of the engine sees them, asked over a pipe and never on the event loop."""

from hudi_operator.observe.observer import Limits, Observer
from hudi_operator.observe.pair import ObserverPair

__all__ = ["Limits", "Observer", "ObserverPair"]
