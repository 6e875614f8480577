"""A manifest's nested mappings, of which each field is taken by its type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hudi_operator.resources.refusals import InvalidResource, type_of


@dataclass(frozen=True, slots=True)
class Tree:
    """One object of a manifest; `path` is where it stands, empty at the top."""

    tree: Mapping[str, object]
    path: str = ""

    def has(self, name: str) -> bool:
        """Whether it is given; to give null is not to give it, as the API has it."""
        return self.tree.get(name) is not None

    def within(self, name: str) -> "Tree":
        """The object of that name, an empty one if it is not given."""
        value = self.tree.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise self._wrong(name, "object")
        return Tree(value or {}, self._path(name))

    def trees(self, name: str) -> list["Tree"]:
        path = self._path(name)
        return [
            Tree(value if isinstance(value, Mapping) else {}, f"{path}[{number}]")
            for number, value in enumerate(self.entries(name))
        ]

    def entries(self, name: str) -> Sequence[object]:
        value = self.tree.get(name)
        if value is not None and not isinstance(value, list | tuple):
            raise self._wrong(name, "array")
        return value or ()

    def text(self, name: str) -> str:
        text = self.text_or_none(name)
        if text is None:
            raise InvalidResource(self._path(name), "Required value")
        return text

    def text_or(self, name: str, default: str) -> str:
        text = self.text_or_none(name)
        return default if text is None else text

    def text_or_none(self, name: str) -> str | None:
        value = self.tree.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "string")
        return value

    def whole(self, name: str) -> int | None:
        value = self.tree.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self._wrong(name, "integer")
        return value

    def whole_or(self, name: str, default: int) -> int:
        whole = self.whole(name)
        return default if whole is None else whole

    def claim(self, name: str) -> bool:
        value = self.tree.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(name, "boolean")
        return bool(value)

    def texts(self, name: str) -> dict[str, str]:
        given = self.within(name)
        return {key: given.text(key) for key in given.tree}

    def quantities(self, name: str) -> dict[str, str]:
        return {resource: str(amount) for resource, amount in self.within(name).tree.items()}

    def _path(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _wrong(self, name: str, expected: str) -> InvalidResource:
        return InvalidResource(self._path(name), f"must be of type {expected}, found {type_of(self.tree[name])}")
