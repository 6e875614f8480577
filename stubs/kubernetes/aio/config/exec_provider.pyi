from typing import Any

from kubernetes.aio.config.kube_config import ConfigNode

class ExecProvider:
    def __init__(self, exec_config: ConfigNode) -> None: ...
    async def run(self) -> dict[str, Any]: ...
