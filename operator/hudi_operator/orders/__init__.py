"""What is ordered for a wish: the request to the engine, and all that it needs of the table's settings."""

from hudi_operator.orders.conf import conf_of, secrets_of
from hudi_operator.orders.order import Wanted, are_alike, order_of, with_others
from hudi_operator.orders.writer import writer_properties

__all__ = ["Wanted", "are_alike", "conf_of", "order_of", "secrets_of", "with_others", "writer_properties"]
