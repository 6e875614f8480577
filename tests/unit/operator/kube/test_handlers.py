import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import kopf
from kopf._cogs.structs.references import Resource

from hudi_operator.decision import Defaults
from hudi_operator.kube.connection import Connection
from hudi_operator.kube.handlers import Watches, settings
from hudi_operator.kube.session import Traffic
from hudi_operator.launch.job import JobLauncher
from hudi_operator.metrics import Counts
from hudi_operator.names import FINALIZER, Label
from hudi_operator.observe import Observer
from hudi_operator.reconcile import Loop
from hudi_operator.words import Kind
from tests.unit.operator.kube.objects import NOW, Objects, client_of
from tests.unit.operator.launch.jobs import DRIVER_ONLY, job
from tests.unit.operator.reconcile.around import ORDERS, Scene


@dataclass(frozen=True, slots=True)
class Watched:
    watches: Watches
    loop: Loop
    jobs: JobLauncher


def play(story: Callable[[Watched], Coroutine[None, None, None]]) -> None:
    async def played() -> None:
        async with client_of(Objects()) as client:
            counts = Counts(NOW)
            loop = Loop(Scene.of().reconciler, Observer(), counts)
            jobs = JobLauncher(client, Defaults())
            await story(Watched(Watches(loop, jobs, Traffic(counts, lambda: NOW)), loop, jobs))

    asyncio.run(played())


def table(version: str, uid: str = "uid-1", **spec: Any) -> dict[str, Any]:
    place = {"basePath": "s3://lake/orders", "concurrency": {"mode": "SingleWriter"}}
    meta = {"name": "orders", "namespace": "shop", "uid": uid, "resourceVersion": version}
    return {"metadata": meta, "spec": {**place, **spec}, "status": {"state": "Ready"}}


def test_an_event_makes_the_resource_known_with_its_status() -> None:
    async def story(there: Watched) -> None:
        there.watches.resource(Kind.TABLE, table("7"), False)
        held = there.loop.store.resources[ORDERS]
        assert (held.resource.meta.uid, held.status) == ("uid-1", {"state": "Ready"})

    play(story)


def test_an_event_that_is_older_than_what_is_known_is_passed_by() -> None:
    async def story(there: Watched) -> None:
        there.watches.resource(Kind.TABLE, table("70", suspend=True), False)
        there.watches.resource(Kind.TABLE, table("9"), False)
        assert next(there.loop.store.tables()).suspend

    play(story)


def test_a_resource_made_anew_is_known_even_if_the_end_of_the_first_comes_late() -> None:
    async def story(there: Watched) -> None:
        there.watches.resource(Kind.TABLE, table("7"), False)
        there.watches.resource(Kind.TABLE, table("9", uid="uid-2"), False)
        there.watches.resource(Kind.TABLE, table("8"), True)
        assert there.loop.store.resources[ORDERS].resource.meta.uid == "uid-2"

    play(story)


def test_a_resource_that_is_gone_is_forgotten() -> None:
    async def story(there: Watched) -> None:
        there.watches.resource(Kind.TABLE, table("7"), False)
        there.watches.resource(Kind.TABLE, table("8"), True)
        there.watches.resource(Kind.TABLE, table("8"), True)
        assert there.loop.store.resources == {}

    play(story)


def test_what_cannot_be_read_any_more_is_there_and_its_former_wish_is_not() -> None:
    async def story(there: Watched) -> None:
        there.watches.resource(Kind.TABLE, table("7"), False)
        there.watches.resource(Kind.TABLE, table("8", concurrency={"mode": "Sometimes"}), False)
        found, status = there.loop.store.unreadable[ORDERS]
        assert (found.meta.uid, status) == ("uid-1", {"state": "Ready"})
        assert found.message.startswith('spec.concurrency.mode: Unsupported value: "Sometimes"')
        assert there.loop.store.resources == {}

        there.watches.resource(Kind.TABLE, table("7"), False)
        assert there.loop.store.resources == {}

        there.watches.resource(Kind.TABLE, table("9"), False)
        assert there.loop.store.unreadable == {}
        assert ORDERS in there.loop.store.resources

        there.watches.resource(Kind.TABLE, table("10", concurrency={"mode": "Sometimes"}), False)
        there.watches.resource(Kind.TABLE, table("11"), True)
        assert there.loop.store.meta(ORDERS) is None

    play(story)


def test_jobs_come_and_go() -> None:
    async def story(there: Watched) -> None:
        there.watches.job(job(), False)
        assert [run.name for run in await there.jobs.runs()] == [DRIVER_ONLY.name]
        there.watches.job(job(), True)
        assert await there.jobs.runs() == []

    play(story)


def test_kopf_has_a_handler_of_events_for_each_kind_for_jobs_and_for_pods_and_none_that_writes() -> None:
    async def story(there: Watched) -> None:
        registry = there.watches.registry(Connection("http://there"))
        assert len(list(registry._watching.get_all_handlers())) == 5
        assert list(registry._changing.get_all_handlers()) == []
        assert list(registry._spawning.get_all_handlers()) == []

    play(story)


def test_a_watch_that_never_begins_is_silent_since_it_was_wanted() -> None:
    async def story(there: Watched) -> None:
        there.watches.registry(Connection("http://there"))
        heard = there.watches.traffic.heard
        assert set(heard) == {"huditables", "metadataindexes", "tableservices", "jobs", "pods"}

        there.watches.traffic.note_heard("jobs")
        heard["huditables"] -= 1_000
        assert there.watches.traffic.oldest_seconds() > 1_000 - 1

    play(story)


def test_kopf_watches_the_pods_of_runs_and_no_others() -> None:
    labels = job()["spec"]["template"]["metadata"]["labels"]
    selectors = settings().watching.label_selectors

    (selected,) = selectors.collect(Resource(group="", version="v1", plural="pods"))

    key, _, value = selected.split(",")[0].partition("=")
    assert labels[key] == value
    assert selected.split(",")[1:] == [Label.ACTION]
    assert list(selectors.collect(Resource(group="", version="v1", plural="secrets"))) == []


def test_kopf_takes_no_finalizer_of_ours_for_its_own() -> None:
    chosen = settings()

    assert chosen.persistence.finalizer != FINALIZER
    assert isinstance(chosen, kopf.OperatorSettings)
    assert not chosen.posting.enabled
