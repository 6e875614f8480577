"""The policy as values. Whatever is not allowed is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_engine.contract import ANY, Grant, is_within, place_of

EVERY_OTHER = "*"
"""As a namespace: those that have no rules of their own."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one namespace. An image or account that ends in `*` stands for all that begin so."""

    places: tuple[Grant, ...] = ()
    images: tuple[str, ...] = ()
    service_accounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """`is_given` is false of an operator that was started without one: it opens nothing."""

    namespaces: Mapping[str, Rules] = field(default_factory=dict)
    is_given: bool = True

    def grant(self, namespace: str, base_path: str) -> Grant | None:
        """What may be opened for a table there, by the longest path that it is below; None if nothing may."""
        place = place_of(base_path)
        covering = [each for each in self._rules(namespace).places if each.path == ANY or _covers(each.path, place)]
        return max(covering, key=lambda each: 0 if each.path == ANY else len(place_of(each.path)), default=None)

    def why_closed(self, namespace: str, base_path: str) -> str:
        """What is said where `grant` has none."""
        if not self.is_given:
            return (
                "the operator opens no store: it was started without --policy. Ask whoever runs it to write a policy "
                f"that opens {base_path} to the namespace {namespace} (docs/operator.md, 'The policy')"
            )
        paths = ", ".join(each.path for each in self._rules(namespace).places) or "no path"
        return (
            f"{base_path}: the operator's policy opens {paths} to the namespace {namespace}. Move the table, or ask "
            "whoever runs the operator to add its path (docs/operator.md, 'The policy')"
        )

    def refused_image(self, namespace: str, image: str | None) -> str:
        """Why the image may not be run; empty if it may. The operator's own may, which nobody names."""
        return _refused("execution.image", image, self._rules(namespace).images, namespace)

    def refused_account(self, namespace: str, account: str | None, where: str = "execution") -> str:
        named = self._rules(namespace).service_accounts
        return _refused(f"{where}.serviceAccountName", account, named, namespace)

    def _rules(self, namespace: str) -> Rules:
        return self.namespaces.get(namespace) or self.namespaces.get(EVERY_OTHER) or Rules()


def _covers(path: str, place: str) -> bool:
    return is_within(place, place_of(path))


def _refused(field_name: str, value: str | None, allowed: tuple[str, ...], namespace: str) -> str:
    if value is None or any(_matches(value, pattern) for pattern in allowed):
        return ""
    return (
        f"{field_name} is {value}, and the operator's policy allows {', '.join(allowed) or 'none'} to the namespace "
        f"{namespace}. Leave the field out, or ask whoever runs the operator to add it"
    )


def _matches(value: str, pattern: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern
