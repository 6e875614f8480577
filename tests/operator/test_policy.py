"""What reaches the stores that tenants name, by the processes that look at tables for the operator."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_engine.contract import Grant, ObserveRequest, TableSeen, TableUnseen, UnseenReason
from hudi_operator.observe import ObserverPair
from tests.golden.unpack import unpack
from tests.kit.listener import Listener, listening

SECRETS = {
    "AWS_ACCESS_KEY_ID": "canary-key-id",
    "AWS_SECRET_ACCESS_KEY": "canary-secret",
    "AWS_SESSION_TOKEN": "canary-session-token",
    "AZURE_STORAGE_TOKEN": "canary-azure-token",
    "AZURE_STORAGE_ACCOUNT_KEY": "Y2FuYXJ5",
}
OF_OPERATOR = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "engine:operator", **SECRETS}


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as running:
        yield running


def look(*requests: ObserveRequest) -> list[TableSeen | TableUnseen]:
    """By the observers of an operator that has credentials in its environment."""

    async def looked() -> list[TableSeen | TableUnseen]:
        observers = ObserverPair.of(OF_OPERATOR)
        try:
            return [await observers.look(request) for request in requests]
        finally:
            await observers.close()

    return asyncio.run(looked())


def why(found: TableSeen | TableUnseen) -> UnseenReason:
    assert isinstance(found, TableUnseen), found
    assert not found.retry
    return found.reason


def at(table: str, grant: Grant, conf: Mapping[str, str] | None = None) -> ObserveRequest:
    return ObserveRequest(0, table, conf or {}, grant=grant)


def test_a_request_without_keys_is_not_signed_with_what_the_operator_has(listener: Listener) -> None:
    endpoint = f"http://127.0.0.1:{listener.port}"

    (found,) = look(at("s3a://lake/orders", Grant("s3://lake", (endpoint,)), {"fs.s3a.endpoint": endpoint}))

    assert why(found) is UnseenReason.ACCESS_DENIED
    assert isinstance(found, TableUnseen)
    assert "Requests were not signed: the table's Secret has no keys" in found.message
    assert listener.received
    sent = "".join(listener.received).lower()
    assert [secret for secret in SECRETS.values() if secret.lower() in sent] == []
    assert "authorization" not in sent


def test_keys_of_the_tables_own_secret_sign_without_anything_of_the_operators(listener: Listener) -> None:
    endpoint = f"http://127.0.0.1:{listener.port}"
    keys = {"fs.s3a.access.key": "own-key-id", "fs.s3a.secret.key": "own-secret"}

    (found,) = look(at("s3a://lake/orders", Grant("s3://lake", (endpoint,)), {"fs.s3a.endpoint": endpoint, **keys}))

    assert why(found) is UnseenReason.ACCESS_DENIED
    assert isinstance(found, TableUnseen)
    assert "not signed" not in found.message
    sent = "".join(listener.received)
    assert "Credential=own-key-id/" in sent
    assert "canary" not in sent


def test_a_place_that_is_granted_with_the_operators_identity_is_asked_with_it(listener: Listener) -> None:
    endpoint = f"http://127.0.0.1:{listener.port}"
    grant = Grant("s3://lake", (endpoint,), has_identity=True)

    (found,) = look(at("s3a://lake/orders", grant, {"fs.s3a.endpoint": endpoint}))

    assert why(found) is UnseenReason.ACCESS_DENIED
    assert "Credential=canary-key-id/" in "".join(listener.received)


def test_keys_and_the_operators_identity_are_not_mixed(listener: Listener) -> None:
    endpoint = f"http://127.0.0.1:{listener.port}"
    conf = {"fs.s3a.endpoint": endpoint, "fs.s3a.access.key": "own", "fs.s3a.secret.key": "own"}

    (found,) = look(at("s3a://lake/orders", Grant("s3://lake", (endpoint,), has_identity=True), conf))

    assert why(found) is UnseenReason.NOT_ALLOWED
    assert listener.received == []


FORMS = {
    "an endpoint of the tenant's": ("s3a://lake/orders", {"fs.s3a.endpoint": "http://127.0.0.1:{port}"}),
    "an account that is an address": ("abfss://c@2130706433:{port}#/orders", {}),
    "an account that is an address and a host": ("abfss://c@2130706433:{port}#.dfs.core.windows.net/orders", {}),
    "a region that is an address": ("s3a://lake/orders", {"fs.s3a.endpoint.region": "x@127.0.0.1:{port}/#"}),
    "a bucket that is an address": (
        "s3a://127.0.0.1:{port}#lake/orders",
        {"fs.s3a.endpoint": "http://store.example", "fs.s3a.path.style.access": "false"},
    ),
    "a file through the root of a process": ("file:/proc/self/root/etc", {}),
    "a file": ("/etc", {}),
}


def in_form(form: str, grant: Grant, listener: Listener) -> ObserveRequest:
    table, conf = FORMS[form]
    named = {key: value.format(port=listener.port) for key, value in conf.items()}
    return at(table.format(port=listener.port), grant, named)


@pytest.mark.parametrize("has_identity", [False, True])
def test_no_form_of_a_place_leads_a_request_to_where_the_tenant_wants_it(
    has_identity: bool, listener: Listener
) -> None:
    paths = ("s3://lake", "abfs://c@lake")
    requests = [in_form(form, Grant(path, has_identity=has_identity), listener) for form in FORMS for path in paths]

    reasons = {why(found) for found in look(*requests)}

    assert reasons == {UnseenReason.NOT_ALLOWED, UnseenReason.CONTRADICTION}
    assert listener.received == []


def test_an_address_that_hides_in_a_name_is_refused_whatever_the_policy_grants(listener: Listener) -> None:
    hidden = [form for form in FORMS if form.startswith(("an account", "a region", "a bucket"))]

    reasons = {why(found) for found in look(*(in_form(form, Grant("*", ("*",)), listener) for form in hidden))}

    assert len(hidden) == 4
    assert reasons <= {UnseenReason.CONTRADICTION, UnseenReason.UNSUPPORTED}
    assert listener.received == []


def test_an_endpoint_that_a_secret_carries_is_held_against_the_policy(listener: Listener, tmp_path: Path) -> None:
    (tmp_path / "fs.s3a.endpoint").write_text(f"http://127.0.0.1:{listener.port}")
    request = replace(at("s3a://lake/orders", Grant("s3://lake")), conf_from=(str(tmp_path),))

    (found,) = look(request)

    assert why(found) is UnseenReason.NOT_ALLOWED
    assert listener.received == []


def test_a_folder_is_read_if_the_policy_grants_it_and_not_through_a_link_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    inside, outside = unpack("v9_mor_orders", tmp_path / "mine"), unpack("v9_mor_orders", tmp_path / "theirs")
    (tmp_path / "mine/link").symlink_to(outside)
    grant = Grant(f"file:{tmp_path}/mine")

    granted, elsewhere, linked = look(
        at(str(inside), grant), at(str(outside), grant), at(f"{tmp_path}/mine/link", grant)
    )

    assert isinstance(granted, TableSeen)
    assert (why(elsewhere), why(linked)) == (UnseenReason.NOT_ALLOWED, UnseenReason.NOT_ALLOWED)


def test_a_look_without_a_grant_is_never_asked_for() -> None:
    with pytest.raises(ValueError, match="without a grant"):
        look(ObserveRequest(0, "s3a://lake/orders"))
