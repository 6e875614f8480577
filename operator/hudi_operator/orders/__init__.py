"""What is ordered for a wish: the request to the engine, and all that it needs of the table's settings."""

from hudi_operator.orders.conf import conf_of, secrets_of
from hudi_operator.orders.order import Wanted, order_of
from hudi_operator.orders.writer import writer_properties

__all__ = ["Wanted", "conf_of", "order_of", "secrets_of", "writer_properties"]
