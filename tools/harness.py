"""The error of servers and processes that tests need and that are not under test."""


class HarnessError(Exception):
    """A server or a JVM that a test needs did not start. The message says which one, and ends with its log.

    The gate runs a test that failed by this error once more, and reports both outcomes. Raise it for nothing that the
    engine or the operator could have caused.
    """
