import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace

import pytest

from hudi_operator.kube.client import WRITE_SECONDS
from hudi_operator.kube.errors import Conflict, NotLeading, Refused, Unavailable
from hudi_operator.kube.lease import Terms
from hudi_operator.launch.cluster import JOBS, Address, AlreadyThere, Forbidden
from hudi_operator.metrics import families
from tests.unit.operator.kube.api import Say, Served, served

ONE, ALL = Address(JOBS, "shop", "run-1"), Address(JOBS, "shop")
JOB = {"metadata": {"name": "run-1"}}


def ask(answers: Sequence[Say], question: Callable[[Served], Coroutine[None, None, None]]) -> None:
    async def asked() -> None:
        async with served(answers, token="word") as there:
            await question(there)

    asyncio.run(asked())


def test_an_answer_that_there_are_too_many_requests_is_waited_out_for_as_long_as_it_says() -> None:
    async def question(there: Served) -> None:
        began = asyncio.get_running_loop().time()
        assert await there.client.create(ONE, JOB) == JOB
        assert asyncio.get_running_loop().time() - began >= 0.5
        assert len(there.script.asked) == 2

    ask([Say(429, headers={"Retry-After": "0.5"}), Say(201, JOB)], question)


def test_what_is_done_twice_without_harm_is_asked_again_after_an_error_of_the_server() -> None:
    async def question(there: Served) -> None:
        assert await there.client.find(ONE) == JOB
        assert await there.client.apply(ONE, JOB, "status") == JOB
        assert len(there.script.asked) == 4

    ask([Say(500), Say(200, JOB), Say(503), Say(200, JOB)], question)


def test_a_connection_that_is_dropped_is_no_answer_and_the_question_is_put_again() -> None:
    async def question(there: Served) -> None:
        assert await there.client.find(ONE) == JOB

    ask([Say(0), Say(200, JOB)], question)


def test_a_write_is_given_up_before_another_may_hold_the_lease_and_a_read_is_waited_for() -> None:
    async def question(there: Served) -> None:
        hasty = replace(there.client, write_seconds=0.1)
        with pytest.raises(Unavailable, match="no answer: TimeoutError"):
            await hasty.create(ONE, JOB)
        assert await hasty.find(ONE) == JOB

    ask([Say(201, JOB, after_seconds=0.5), Say(200, JOB, after_seconds=0.5)], question)
    assert Terms().deadline_seconds + WRITE_SECONDS <= Terms().duration_seconds


def test_what_may_have_been_created_is_not_created_again() -> None:
    async def question(there: Served) -> None:
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"no answer|HTTP 500"):
                await there.client.create(ONE, JOB)
        assert [method for method, _ in there.script.asked] == ["POST", "POST"]

    ask([Say(0), Say(500)], question)


@pytest.mark.thorough
def test_a_server_that_never_recovers_is_given_up_on() -> None:
    async def question(there: Served) -> None:
        with pytest.raises(Unavailable, match="the database is away"):
            await there.client.find(ONE)
        assert len(there.script.asked) == 5

    ask([Say(503, {"message": "the database is away"})], question)


def test_what_is_not_there_is_none_and_what_is_refused_is_said_in_the_servers_words() -> None:
    async def question(there: Served) -> None:
        assert await there.client.find(ONE) is None
        with pytest.raises(Refused, match="jobs is forbidden"):
            await there.client.find(ONE)

    ask([Say(404), Say(403, {"message": "jobs is forbidden"})], question)


def test_a_name_that_is_taken_and_an_object_that_is_refused_are_told_apart() -> None:
    async def question(there: Served) -> None:
        with pytest.raises(AlreadyThere):
            await there.client.create(ONE, JOB)
        with pytest.raises(Forbidden, match="the namespace is being terminated"):
            await there.client.create(ONE, JOB)

    ask([Say(409, {"reason": "AlreadyExists"}), Say(403, {"message": "the namespace is being terminated"})], question)


def test_a_change_of_what_has_changed_meanwhile_is_a_conflict() -> None:
    async def question(there: Served) -> None:
        with pytest.raises(Conflict):
            await there.client.patch(ONE, {"metadata": {"resourceVersion": "1"}})

    ask([Say(409, {"reason": "Conflict"})], question)


def test_a_list_is_read_page_by_page() -> None:
    async def question(there: Served) -> None:
        found = await there.client.listed(ALL, "a=b")
        assert found == [{"a": 1}, {"b": 2}]
        assert there.script.asked[1][1].endswith("limit=500&labelSelector=a%3Db&continue=more")

    ask(
        [
            Say(200, {"items": [{"a": 1}], "metadata": {"continue": "more"}}),
            Say(200, {"items": [{"b": 2}], "metadata": {}}),
        ],
        question,
    )


def test_a_list_whose_pages_are_too_old_is_read_from_its_start() -> None:
    async def question(there: Served) -> None:
        assert await there.client.listed(ALL) == [{"c": 3}]

    pages = [Say(200, {"items": [{"a": 1}], "metadata": {"continue": "more"}}), Say(410)]
    ask([*pages, Say(200, {"items": [{"c": 3}], "metadata": {}})], question)


def test_a_proxys_page_instead_of_an_answer_is_an_error_with_its_words() -> None:
    async def question(there: Served) -> None:
        with pytest.raises(Refused, match="go away"):
            await there.client.find(ONE)

    ask([Say(400, "<html>go away")], question)


def test_a_deletion_names_the_uid_and_another_object_of_the_name_stays() -> None:
    async def question(there: Served) -> None:
        await there.client.delete(ONE, "uid-1")
        await there.client.delete(ONE, "uid-1")
        assert there.script.bodies[0] == {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": "uid-1"},
        }

    ask([Say(409, {"reason": "Conflict"}), Say(404)], question)


def test_nothing_is_written_by_who_does_not_lead_and_reading_goes_on() -> None:
    async def question(there: Served) -> None:
        follower = replace(there.client, may_write=lambda: False)
        assert await follower.find(ONE) == JOB
        for write in (follower.create(ONE, JOB), follower.apply(ONE, JOB), follower.delete(ONE, "uid-1")):
            with pytest.raises(NotLeading):
                await write
        assert len(there.script.asked) == 1

    ask([Say(200, JOB)], question)


def test_every_request_is_counted_and_has_the_token() -> None:
    async def question(there: Served) -> None:
        await there.client.find(ONE)
        await there.client.apply(ONE, JOB, "status")

        counted = there.counts.values()[families.API_REQUESTS]
        assert counted == {
            ("get", "jobs", "503"): 1,
            ("get", "jobs", "200"): 1,
            ("patch", "jobs/status", "200"): 1,
        }
        assert set(there.script.tokens) == {"Bearer word"}

    ask([Say(503), Say(200, JOB)], question)


def test_at_most_sixteen_requests_are_under_way() -> None:
    async def question(there: Served) -> None:
        await asyncio.gather(*(there.client.find(ONE) for _ in range(60)))
        assert len(there.script.asked) == 60
        assert there.script.most_at_once == 16

    ask([Say(200, JOB)], question)
