"""Values that stand in several places: names, locations, quantities."""

import re

from hudi_operator.resources.schema.nodes import Rule, Schema, Type, cel_text, group, matching, text, unchanged, without

MAX_NAME = 36

# Line ends of every sort, and what moves a terminal's cursor.
CONTROL = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
ONE_LINE = without(f"[{CONTROL}]", "must be one line without control characters")

_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_NAME = rf"^{_DNS_LABEL}(\.{_DNS_LABEL})*$"
_IS_NAME = "must be a name of Kubernetes: a-z, 0-9, '-' and '.' within"
_LABEL_VALUE = r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"

_LOCATION = (
    without(f"[{CONTROL}`$;|&<>\"'*?{{}}\\[\\]\\\\]", "must be one line without quotes, globs and shell characters"),
    matching(
        r"^((file:(//)?)?/[^/]|(s3|s3a|s3n|gs|abfs|abfss|az)://[^/])",
        "must begin with / or file:/ and name a folder, or with s3://, s3a://, s3n://, gs://, abfs://, abfss:// "
        "or az:// and a bucket",
    ),
    without(r"(^|/)\.\.?(/|$)", "must not have '.' or '..' between slashes"),
    without("://[^/]*:[^/]*@", "must not carry credentials: they belong into a Secret"),
)

_CPU = r"^(0\.[0-9]{0,2}[1-9]|[1-9][0-9]{0,3}(\.[0-9]{1,3})?|[1-9][0-9]{0,6}m)$"
_MEMORY = r"^[1-9][0-9]{0,14}(\.[0-9]{1,3})?([kMGTP]|[KMGTP]i)?$"
_SCALES = {"": 1.0, "m": 1e-3} | {
    letter + binary: (1024.0 if binary else 1000.0) ** power
    for power, letter in enumerate("kMGTP", start=1)
    for binary in ("", "i")
}
_SCALES["Ki"] = _SCALES.pop("ki")


def dns_name(description: str, most: int = 253) -> Schema:
    return text(description, most, matching(_DNS_NAME, _IS_NAME))


def token(description: str) -> Schema:
    return text(
        description,
        63,
        matching(_LABEL_VALUE, "must be letters, digits, '-', '_' and '.', a letter or digit first and last"),
    )


def secret_ref(description: str) -> Schema:
    name = dns_name("Name of a Secret in the resource's namespace.")
    return group(description, {"name": name}, required=("name",))


def table_ref() -> Schema:
    """A resource is about one table as long as it lives."""
    name = dns_name("Name of the HudiTable.", MAX_NAME)
    return group(
        "The table that this is about, a HudiTable of the same namespace. Cannot be changed.",
        {"name": name},
        required=("name",),
        changes=(unchanged(),),
    )


def location(description: str, most: int = 1_024) -> Schema:
    return text(description, most, *_LOCATION)


def resources(whose: str, *, is_terse: bool = False) -> Schema:
    """Requests and limits of a container."""
    return group(
        f"Compute resources of the {whose}.",
        {"requests": _amounts("asked for"), "limits": _amounts("never exceeded")},
        _REQUESTS_WITHIN_LIMITS,
        is_terse=is_terse,
    )


def amount_of(quantity: str) -> float:
    """The number that a quantity stands for."""
    digits = quantity.rstrip("mkKMGTPi")
    return float(digits) * _SCALES[quantity[len(digits) :]]


def _amounts(meaning: str) -> Schema:
    return group(
        f"What is {meaning}.",
        {
            "cpu": _quantity("CPU cores, as 500m or 2.", _CPU, "must be cores, as 500m or 2"),
            "memory": _quantity("Memory, as 512Mi or 2Gi.", _MEMORY, "must be bytes, as 512Mi or 2Gi"),
        },
    )


def _quantity(description: str, pattern: str, message: str) -> Schema:
    found = re.compile(pattern[:-1] + r"\Z")
    rule = Rule(f"string(self).matches({cel_text(pattern)})", message, lambda amount: bool(found.search(str(amount))))
    return Schema(Type.QUANTITY, description, rules=(rule,))


def _cel_within(name: str) -> str:
    requests, limits = f"self.requests.{name}", f"self.limits.{name}"
    return (
        f"(!has({requests}) || !has({limits}) || "
        f"quantity(string({requests})).compareTo(quantity(string({limits}))) <= 0)"
    )


def _is_within(requests: dict[str, object], limits: dict[str, object], name: str) -> bool:
    if requests.get(name) is None or limits.get(name) is None:
        return True
    return amount_of(str(requests[name])) <= amount_of(str(limits[name]))


_REQUESTS_WITHIN_LIMITS = Rule(
    f"!has(self.requests) || !has(self.limits) || {_cel_within('cpu')} && {_cel_within('memory')}",
    "requests must not be more than limits",
    lambda given: all(
        _is_within(given.get("requests") or {}, given.get("limits") or {}, name) for name in ("cpu", "memory")
    ),
)
