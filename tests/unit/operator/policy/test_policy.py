import re
from pathlib import Path

import pytest

from hudi_engine.contract import Grant
from hudi_operator.policy import Policy, Rules, scrubbed
from hudi_operator.policy.file import BadPolicy, parse_policy

_PAGE = Path(__file__).parents[4] / "docs/operator.md"
SHOP = """
namespaces:
  shop:
    places:
      - path: s3a://lake/shop
        endpoints: [https://minio.lake:9000]
      - path: s3a://lake/shop/audit
        identity: Operator
      - path: /data/shop
    images: [registry.example/hudi-engine:1.2, "registry.example/engines/*"]
    serviceAccounts: [indexer]
  "*":
    places: [{path: s3a://common}]
"""
MINIO = Grant("s3a://lake/shop", ("https://minio.lake:9000",))
AUDIT = Grant("s3a://lake/shop/audit", has_identity=True)


@pytest.mark.parametrize(
    ("base_path", "grant"),
    [
        ("s3a://lake/shop", MINIO),
        ("s3://lake/shop/orders/", MINIO),
        ("s3n://lake//shop/orders", MINIO),
        ("s3a://lake/shop/audit/log", AUDIT),
        ("s3a://lake/shop/auditors", MINIO),
        ("file:///data/shop/orders", Grant("/data/shop")),
        ("s3a://lake/shopping", None),
        ("s3a://lake", None),
        ("s3a://lake/shop/../bank", None),
        ("gs://lake/shop/orders", None),
        ("/data", None),
        ("/", None),
        ("/proc/self/root/data/shop", None),
        ("s3a://common/orders", None),
    ],
)
def test_a_table_is_opened_by_the_longest_path_that_it_is_below(base_path: str, grant: Grant | None) -> None:
    assert parse_policy(SHOP).grant("shop", base_path) == grant


def test_a_namespace_that_is_not_named_has_the_rules_of_all_others() -> None:
    assert parse_policy(SHOP).grant("bank", "s3a://common/orders") == Grant("s3a://common")
    assert parse_policy(SHOP).grant("bank", "s3a://lake/shop/orders") is None


def test_an_open_policy_opens_everything() -> None:
    policy = parse_policy('namespaces: {"*": {places: [{path: "*", endpoints: ["*"]}], images: ["*"]}}')

    assert policy.grant("any", "file:/lake/orders") == policy.grant("any", "gs://lake/orders") == Grant("*", ("*",))
    assert policy.refused_image("any", "evil/image") == ""


@pytest.mark.parametrize("text", ["", "namespaces: {}", "namespaces: {shop: {}}", "namespaces: {bank: {places: []}}"])
def test_what_a_policy_does_not_name_is_closed(text: str) -> None:
    policy = parse_policy(text)

    assert policy.grant("shop", "s3a://lake/shop/orders") is None
    assert "opens no path to the namespace shop" in policy.why_closed("shop", "s3a://lake/shop/orders")


def test_an_operator_without_a_policy_says_what_is_missing() -> None:
    policy = Policy(is_given=False)

    assert policy.grant("shop", "/data") is None
    assert "started without --policy" in policy.why_closed("shop", "/data")


@pytest.mark.parametrize(
    ("image", "is_allowed"),
    [
        (None, True),
        ("registry.example/hudi-engine:1.2", True),
        ("registry.example/hudi-engine:1.2-evil", False),
        ("registry.example/engines/any:3", True),
        ("evil/hudi-engine:1.2", False),
    ],
)
def test_an_image_that_is_named_must_be_on_the_list(image: str | None, is_allowed: bool) -> None:
    refused = parse_policy(SHOP).refused_image("shop", image)

    assert (refused == "") is is_allowed
    assert is_allowed or f"execution.image is {image}" in refused


def test_an_account_that_is_named_must_be_on_the_list() -> None:
    policy = parse_policy(SHOP)

    assert policy.refused_account("shop", "indexer") == policy.refused_account("shop", None) == ""
    assert "execution.serviceAccountName is admin" in policy.refused_account("shop", "admin")
    assert "allows none to the namespace bank" in policy.refused_account("bank", "indexer")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("namespaces: {shop: {place: []}}", "namespaces.shop: an unknown field 'place'"),
        ("tables: {}", "the policy: an unknown field 'tables'"),
        ("[]", "the policy: []; expected fields"),
        ("namespaces: {shop: [a]}", "namespaces.shop: ['a']; expected fields"),
        ("namespaces: {shop: {places: s3a://lake}}", "namespaces.shop.places: 's3a://lake'; expected a list"),
        ("namespaces: {shop: {places: [{path: lake}]}}", "namespaces.shop.places[0].path: 'lake'"),
        ("namespaces: {shop: {places: [{path: /}]}}", "namespaces.shop.places[0].path: '/'"),
        ("namespaces: {shop: {places: [{path: 's3a://'}]}}", "namespaces.shop.places[0].path: 's3a://'"),
        ("namespaces: {shop: {places: [{path: /data/../etc}]}}", "namespaces.shop.places[0].path: '/data/../etc'"),
        ("namespaces: {shop: {places: [{endpoints: []}]}}", "namespaces.shop.places[0].path: None"),
        ("namespaces: {shop: {places: [{path: /a, identity: true}]}}", "places[0].identity: True; expected None or"),
        ("namespaces: {shop: {places: [{path: /a}, {path: 'file:/a/'}]}}", "/a is given twice"),
        ("namespaces: {shop: {places: [{path: /a, endpoints: [a, a]}]}}", "places[0]: grant.endpoints"),
        ("namespaces: {shop: {images: [1]}}", "namespaces.shop.images: 1; expected a text"),
        ("namespaces: {shop", "no YAML"),
    ],
)
def test_a_file_that_is_no_policy_is_refused_with_its_field(text: str, message: str) -> None:
    with pytest.raises(BadPolicy) as refused:
        parse_policy(text)

    assert message in str(refused.value)


def test_nothing_of_an_environment_that_may_prove_who_somebody_is_stays() -> None:
    kept = {"PATH": "/bin", "PYTHONPATH": "x", "TZ": "UTC", "LC_ALL": "C", "https_proxy": "p", "SSL_CERT_FILE": "c"}
    lost = {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_WEB_IDENTITY_TOKEN_FILE": "b",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "c",
        "GOOGLE_APPLICATION_CREDENTIALS": "d",
        "AZURE_FEDERATED_TOKEN_FILE": "e",
        "KUBECONFIG": "f",
        "HOME": "g",
        "PATH_TO_SECRET": "h",
        "VAULT_TOKEN": "i",
    }

    assert scrubbed({**kept, **lost}) == kept


def test_rules_that_say_nothing_allow_nothing() -> None:
    assert Policy({"shop": Rules()}).grant("shop", "/data") is None


def test_the_policy_of_the_page_is_one() -> None:
    (text,) = re.findall(r"```yaml\n(namespaces:.*?)```", _PAGE.read_text(), re.DOTALL)

    policy = parse_policy(text)

    assert policy.grant("shop", "s3a://lake/shop/audit/log") == Grant("s3a://lake/shop/audit", has_identity=True)
    assert policy.grant("bank", "s3a://common/rates") == Grant("s3a://common")
    assert policy.refused_account("shop", "indexer") == ""
