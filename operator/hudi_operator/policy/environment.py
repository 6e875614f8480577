"""What a process that works for others has of the operator's own environment: nothing that proves who it is."""

from collections.abc import Mapping

# How Python, Java and Spark are run, how words are shown, and how a store is reached.
_KEPT = {
    "PATH",
    "LANG",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "HUDI_ENGINE_DEBUG",
    "JAVA_HOME",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "SPARK_LOCAL_DIRS",
    "PYSPARK_PYTHON",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
}
_KEPT_BEGINNINGS = ("PYTHON", "LC_", "SSL_CERT_")


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without credentials: a list of what stays, since nobody knows all names that credentials have."""
    return {
        name: value for name, value in environment.items() if name.upper() in _KEPT or name.startswith(_KEPT_BEGINNINGS)
    }
