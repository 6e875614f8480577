"""The policy's file, in YAML."""

from collections.abc import Sequence

import yaml

from hudi_engine.contract import ANY, Grant, Malformed, place_of
from hudi_operator.policy.rules import Policy, Rules

_OF_FILE, _OF_RULES = {"namespaces"}, {"places", "images", "serviceAccounts"}
_OF_PLACE = {"path", "endpoints", "identity"}
_IDENTITIES = ("None", "Operator")


class BadPolicy(Exception):
    """The file is no policy; the message names the field."""


def parse_policy(text: str) -> Policy:
    """The policy that the text is. Nothing is guessed: a misspelt field would open or close what nobody meant."""
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as wrong:
        raise BadPolicy(f"no YAML: {wrong}") from wrong
    namespaces = _fields("namespaces", _fields("the policy", tree, _OF_FILE).get("namespaces"), None)
    return Policy({name: _rules(f"namespaces.{name}", rules) for name, rules in namespaces.items()})


def _rules(where: str, tree: object) -> Rules:
    given = _fields(where, tree, _OF_RULES)
    places = tuple(
        _place(f"{where}.places[{number}]", each) for number, each in enumerate(_list(where, given, "places"))
    )
    paths = [place_of(each.path) for each in places]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise BadPolicy(f"{where}.places: {twice} is given twice; expected each path once")
    return Rules(places, _texts(where, given, "images"), _texts(where, given, "serviceAccounts"))


def _place(where: str, tree: object) -> Grant:
    given = _fields(where, tree, _OF_PLACE)
    path, identity = given.get("path"), given.get("identity", _IDENTITIES[0])
    if not isinstance(path, str) or not (path == ANY or _is_folder(path)):
        raise BadPolicy(
            f"{where}.path: {path!r}; expected a folder as file:/data or /data, a bucket or a folder in it as "
            "s3a://lake/shop, or '*' for every place"
        )
    if identity not in _IDENTITIES:
        raise BadPolicy(f"{where}.identity: {identity!r}; expected {' or '.join(_IDENTITIES)}")
    try:
        return Grant(path, _texts(where, given, "endpoints"), has_identity=identity == "Operator")
    except Malformed as wrong:
        raise BadPolicy(f"{where}: {wrong}") from wrong


def _is_folder(path: str) -> bool:
    place = place_of(path)
    scheme, colon, rest = place.partition("://")
    named = rest if colon else place
    is_anchored = bool(scheme) if colon else place.startswith("/")
    return is_anchored and bool(named.strip("/")) and not {".", ".."} & set(place.split("/"))


def _fields(where: str, tree: object, known: set[str] | None) -> dict[str, object]:
    if tree is None:
        return {}
    if not isinstance(tree, dict) or not all(isinstance(name, str) for name in tree):
        raise BadPolicy(f"{where}: {tree!r}; expected fields")
    unknown = sorted(tree.keys() - known) if known is not None else []
    if known is not None and unknown:
        raise BadPolicy(f"{where}: an unknown field {unknown[0]!r}; expected {', '.join(sorted(known))}")
    return tree


def _list(where: str, given: dict[str, object], name: str) -> Sequence[object]:
    found = given.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        raise BadPolicy(f"{where}.{name}: {found!r}; expected a list")
    return found


def _texts(where: str, given: dict[str, object], name: str) -> tuple[str, ...]:
    found = _list(where, given, name)
    for entry in found:
        if not isinstance(entry, str) or not entry.strip():
            raise BadPolicy(f"{where}.{name}: {entry!r}; expected a text")
    return tuple(str(entry) for entry in found)
