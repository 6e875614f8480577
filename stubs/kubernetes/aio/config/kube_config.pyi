from collections.abc import Mapping
from typing import Any

from kubernetes.aio.client.configuration import Configuration

class ConfigNode:
    def __init__(self, name: str, value: Mapping[str, Any]) -> None: ...

class KubeConfigLoader:
    def __init__(self, config_dict: Mapping[str, Any], *, temp_file_path: str | None = ...) -> None: ...
    async def load_and_set(self, client_configuration: Configuration) -> None: ...
