"""An S3 server and a ZooKeeper that pods reach."""

import secrets
from pathlib import Path
from typing import Final

from tests.kit.eventually import eventually
from tests.node.node import Node
from tests.node.pods import ENGINE, Pods, pod
from tests.node.settings import ADDRESS
from tools.go_programs import S3_SERVER
from tools.s3_server import REGION, S3Server

ZOOKEEPER: Final = "zookeeper"

_PORT: Final = 7070
_CLIENTS: Final = 2181
_SERVER: Final = "org.apache.zookeeper.server.ZooKeeperServerMain"


def start_s3(node: Node, folder: Path) -> S3Server:
    """A process on the node. Each folder directly in `folder` is a bucket."""
    server = S3Server(f"http://{ADDRESS}:{_PORT}", secrets.token_hex(8), secrets.token_hex(16), folder)
    node.cluster.start(
        *("s3", S3_SERVER.built(), "--port", f"{ADDRESS}:{_PORT}", "--quiet", "--keep-alive", "--region", REGION),
        *("posix", folder),
        environment={"ROOT_ACCESS_KEY": server.access_key, "ROOT_SECRET_KEY": server.secret_key},
    )
    listens = ["sh", "-c", f"ss --no-header --listening --tcp --numeric 'sport = :{_PORT}'"]
    eventually("the S3 server to listen", lambda: node.cluster.run(listens))
    return server


def start_zookeeper(pods: Pods) -> None:
    """A pod with the ZooKeeper among Spark's jars, and a service; both are called zookeeper."""
    java = ("/opt/java/bin/java", "-Xmx128m", "-Dzookeeper.admin.enableServer=false", "-cp", "/opt/spark-jars/*")
    server = pod(ZOOKEEPER, ENGINE, *java, _SERVER, str(_CLIENTS), "/tmp/zookeeper")
    pods.start(server)
    pods.expose(ZOOKEEPER, _CLIENTS)
    pods.wait_ready(ZOOKEEPER)
