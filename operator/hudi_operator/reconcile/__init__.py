"""The one function for all that happens: what is seen of a resource, what follows of it, and the doing of it."""

from hudi_operator.reconcile.home import Event, Gone, Home, HomeError
from hudi_operator.reconcile.loop import Loop
from hudi_operator.reconcile.reconciler import Reconciler, Surroundings
from hudi_operator.reconcile.store import Store

__all__ = ["Event", "Gone", "Home", "HomeError", "Loop", "Reconciler", "Store", "Surroundings"]
