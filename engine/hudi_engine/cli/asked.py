"""What a request asks for, in the engine's own words."""

import os
import socket
import uuid
from collections.abc import Mapping

from hudi_engine.action.schedule import IndexRequest
from hudi_engine.compute.duplicates import DUPLICATES_KEY
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.settings import is_set
from hudi_engine.contract import DuplicateKeys, JobRequest
from hudi_engine.index.kinds import kind_of

PARTITIONED_KEY = "hoodie.metadata.record.level.index.enable"
"""Hudi's own property for a record index that is kept by data partition."""


def index_request_of(request: JobRequest) -> IndexRequest:
    """The indexes that a request asks for."""
    for name in request.kinds:
        kind_of(name)
    return IndexRequest(request.kinds, is_set(request.conf, PARTITIONED_KEY), request.columns)


def conf_of(request: JobRequest) -> Mapping[str, str]:
    """The properties of a request, and its words for which the engine has properties."""
    if request.duplicates is DuplicateKeys.REFUSE:
        return request.conf
    return {**request.conf, DUPLICATES_KEY: request.duplicates.value}


def owner() -> Owner:
    """This run of this process, and no other."""
    return Owner("hudi-engine", f"{socket.gethostname()}:{os.getpid()}", uuid.uuid4().hex)
