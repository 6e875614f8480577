"""Many Avro records straight into Arrow columns, without a Python loop over the records.

Decoding goes in lockstep: a vector holds one position per record, and each step of the schema is taken for all records
at once. So the cost per call is that of the schema, some ten array operations per field, and the cost per record is
small: hand over thousands of records in one call, not one block of a few at a time.
"""

from hudi_engine.format.avro_columns.framing import framed_records
from hudi_engine.format.avro_columns.table import decode_columns

__all__ = ["decode_columns", "framed_records"]
