"""Both images do their work as a cluster starts them: without root, under any uid, on a read-only root."""

import re
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

import pytest

from tests.golden.unpack import unpack
from tests.images.conftest import Images
from tests.images.container import User
from tools.images import REPOSITORIES
from tools.s3_server import s3_server

# To build the images is not a part of any test.
pytestmark = pytest.mark.timeout(480, func_only=True)

_ROOT: Final = Path(__file__).parents[2]
_OWN: Final = User(185)
# OpenShift gives a namespace a uid that no image knows.
_RANDOM: Final = User(1_000_730_000)
_USERS: Final = pytest.mark.parametrize("user", [_OWN, _RANDOM], ids=["own", "random"])
_TARGETS: Final = pytest.mark.parametrize("target", REPOSITORIES)
_VERSION: Final = re.findall(r'^version = "(.+)"$', (_ROOT / "pyproject.toml").read_text(), re.MULTILINE)[0]
_WRITE_AND_READ: Final = """
import sys
from pyspark.sql import SparkSession
settings = dict(word.split("=", 1) for word in sys.argv[2:])
spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
spark.range(5).write.parquet(f"{sys.argv[1]}/written")
print("sum", spark.read.parquet(f"{sys.argv[1]}/written").agg({"id": "sum"}).collect()[0][0])
"""
_HADOOP: Final = ("hadoop-client-api", "hadoop-client-runtime", "hadoop-aws")
_FOLDERS_OF_TOOLS: Final = re.compile(r"s?bin|(site|dist)-packages|python3\.\d+")
_BUILD_TOOLS: Final = re.compile(r"(pip[\d.]*|uv|mvn|gcc|cc|make|ensurepip|setuptools|wheel|javac)")


@_USERS
def test_the_commands_of_both_images_show_their_version(images: Images, user: User, tmp_path: Path) -> None:
    operator = images["operator"].run(user, tmp_path, "--version")
    engine = images["engine"].run(user, tmp_path, "hudi-engine", "--version")

    assert (operator.stdout, operator.stderr) == (f"hudi-operator {_VERSION}\n", "")
    assert (engine.stdout, engine.stderr) == (f"hudi-engine {_VERSION}\n", "")


@_USERS
@pytest.mark.parametrize("compute", ["local", "spark"])
def test_the_engine_image_builds_a_valid_index(images: Images, user: User, compute: str, tmp_path: Path) -> None:
    for file in (table := unpack("v9_mor_orders", tmp_path)).rglob("*"):
        file.chmod(0o777 if file.is_dir() else 0o666)
    table.chmod(0o777)
    inside = f"/tmp/{table.name}"
    asked = ("hudi-engine", "index", "build", inside, "--type", "record_index", "--single-writer")

    built = images["engine"].run(user, tmp_path, *asked, "--compute", compute)
    valid = images["engine"].run(user, tmp_path, "hudi-engine", "validate", inside, "--json")

    assert built.returncode == 0, built.stderr
    assert '"kind": "record_index", "status": "ok"' in valid.stdout, valid.stderr


def test_spark_in_the_engine_image_reads_and_writes_s3a(images: Images, tmp_path: Path) -> None:
    with s3_server() as server:
        bucket = server.make_bucket("rows").replace("s3://", "s3a://")
        # The server keeps folders, and refuses to delete one that has files.
        options = server.options | {"fs.s3a.directory.marker.retention": "keep", "fs.s3a.attempts.maximum": "3"}
        settings = [f"spark.hadoop.{name}={value}" for name, value in options.items()]

        ran = images["engine"].run(_OWN, tmp_path, "python3", "-c", _WRITE_AND_READ, bucket, *settings)

        assert list((server.folder / "rows" / "written").glob("part-*")), ran.stderr[-2000:]
    assert ran.stdout.split() == ["sum", "10"], ran.stderr[-2000:]


@_USERS
def test_the_entry_point_starts_an_executor_of_spark(images: Images, user: User, tmp_path: Path) -> None:
    """Nobody is at the driver's port, and that is where the executor gets to."""
    said = {
        "SPARK_APPLICATION_ID": "app",
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@127.0.0.1:9",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_EXECUTOR_ID": "1",
        "SPARK_EXECUTOR_MEMORY": "300m",
        "SPARK_EXECUTOR_POD_IP": "127.0.0.1",
        "SPARK_EXECUTOR_POD_NAME": "executor-1",
        "SPARK_JAVA_OPT_0": "-XshowSettings:properties",
        "SPARK_JAVA_OPT_1": "-Dtold.to.the.executor=a value",
        "SPARK_RESOURCE_PROFILE_ID": "0",
    }

    ran = images["engine"].run(
        user, tmp_path, "env", *(f"{name}={value}" for name, value in said.items()), "/opt/entrypoint.sh", "executor"
    )

    assert "told.to.the.executor = a value" in ran.stderr
    assert "KubernetesExecutorBackend" in ran.stdout + ran.stderr
    assert "Failed to connect to /127.0.0.1:9" in ran.stdout + ran.stderr


@_TARGETS
@_USERS
def test_nothing_but_the_volume_can_be_written_to(images: Images, user: User, target: str, tmp_path: Path) -> None:
    """That the other tests run as they say."""
    attempt = "import os, sys; [open(path, 'w') for path in sys.argv[1:]]; print(os.getuid(), os.getgid())"
    program = ["/opt/hudi-operator/bin/python3", "-c", attempt]
    container = images[target]

    inside = container.run_plain(user, tmp_path, *program, "/tmp/file")
    outside = container.run_plain(user, tmp_path, *program, "/opt/hudi-operator/file")

    assert inside.stdout.split() == [str(user.uid), "0"], inside.stderr
    assert "Read-only file system" in outside.stderr


@_TARGETS
def test_an_image_names_itself_its_user_and_its_entry_point(images: Images, target: str) -> None:
    config = images[target].config

    assert config["User"] == "185:0"
    assert Path(config["Entrypoint"][0]).name == {"operator": "hudi-operator", "engine": "entrypoint.sh"}[target]
    labels = {name.removeprefix("org.opencontainers.image."): text for name, text in config["Labels"].items()}
    assert labels["title"] == REPOSITORIES[target]
    assert labels["version"] == _VERSION
    assert labels["licenses"] == "Apache-2.0"
    assert re.fullmatch(r"[0-9a-f]{40}", labels["revision"])


@_TARGETS
def test_what_is_installed_in_an_image_is_what_the_lock_pins(images: Images, target: str) -> None:
    lock = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (_ROOT / "requirements.lock").read_text(), re.MULTILINE)
    locked = {_plain(name): version for name, version in lock}
    (packages,) = (images[target].root / "opt/hudi-operator/lib").glob("python3*/site-packages")

    installed = {_plain(found.name): found.version for found in distributions(path=[str(packages)])}

    assert installed.pop("hudi-operator") == _VERSION
    assert "pyarrow" in installed
    assert {name: version for name, version in installed.items() if locked.get(name) != version} == {}
    assert ("kopf" in installed, "pyspark" in installed) == (target == "operator", target == "engine")


@_TARGETS
def test_no_tool_of_a_build_is_left_in_an_image(images: Images, target: str) -> None:
    found = [path for path in images[target].root.rglob("*") if _FOLDERS_OF_TOOLS.fullmatch(path.parent.name)]

    assert len(found) > 500
    assert [path for path in found if _BUILD_TOOLS.fullmatch(path.name)] == []


def test_the_operator_image_has_no_jvm_and_the_jars_of_the_engine_image_are_of_one_hadoop(images: Images) -> None:
    jars = [path.name for path in (images["engine"].root / "opt/spark-jars").iterdir()]
    versions = {name: re.findall(rf"^{name}-([\d.]+)\.jar$", "\n".join(jars), re.MULTILINE) for name in _HADOOP}

    assert [path for path in images["operator"].root.rglob("*") if path.name == "java" or path.suffix == ".jar"] == []
    assert len({tuple(found) for found in versions.values()}) == 1, versions
    assert [name for name in jars if name.startswith("hudi")] == []


def _plain(name: str) -> str:
    """One spelling of a distribution's name, of the many that are allowed."""
    return re.sub(r"[-_.]+", "-", name).lower()
