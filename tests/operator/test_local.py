"""Local mode from the command line: real processes, the real engine, tables of real Hudi."""

import json
import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.builds import BEGINNING, MIDDLE, is_asked_to_end, silence_hearts
from tests.operator.sessions import BLOOMS, BY_NOTE, BY_NOWHERE, INDEX, SERVICE, Place, process_of

pytestmark = pytest.mark.thorough

CANARY = "canary-51c7d0"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place.made(tmp_path)
    yield made
    made.close()


def test_an_index_is_built_and_validated_and_the_session_ends_by_itself(place: Place) -> None:
    place.write("index.yaml", INDEX)
    place.write("service.yaml", SERVICE)

    assert place.ended(place.begin()) == 0

    assert place.index_state() == "complete"
    assert [len(place.runs(action)) for action in ("build", "validate")] == [1, 1]
    assert '"outcome": "valid"' in (place.runs("validate")[0] / "report.json").read_text()
    assert place.lines()[-1]["note"] == "ready: 3 resources"
    assert (
        "hoodie.metadata.record.index.enable=true"
        in (place.state / "configmaps/default/orders-writer/writer.properties").read_text()
    )


def test_two_indexes_are_built_by_one_run_of_one_plan(place: Place) -> None:
    place.write("indexes.yaml", "---".join((INDEX, BLOOMS)))

    assert place.ended(place.begin()) == 0

    assert place.kinds() == [["bloom_filters", "record_index"]]
    assert [place.index_state(name) for name in place.kinds()[0]] == ["complete"] * 2
    notes = [json.loads(note.read_text()) for note in place.table.glob(".hoodie/.index_attempts/built/*.json")]
    assert len(notes) == 2
    assert len({note["plan"] for note in notes}) == 1
    assert re.search("is not built yet; for orders-(keys|blooms) as well", place.said())


def test_an_index_that_cannot_be_built_fails_the_run_for_several_and_then_its_own_alone(place: Place) -> None:
    place.write("indexes.yaml", "---".join((INDEX, BY_NOTE, BY_NOWHERE)))
    session = place.begin("--stay")

    place.until("ready", lambda: place.is_ready("metadataindexes", "orders-by-note"))
    place.until("given up", lambda: "not tried again" in str(place.resource("metadataindexes", "orders-by-nowhere")))
    session.terminate()

    assert place.ended(session) == 143
    by_note, by_nowhere = "secondary_index_orders_by_note", "secondary_index_orders_by_nowhere"
    first, together, *alone = place.kinds()
    assert (first, together) == (["record_index"], [by_note, by_nowhere])
    assert sorted(alone) == [[by_note], [by_nowhere]]


def test_a_plan_for_several_whose_run_is_killed_is_taken_back_and_each_is_built_by_itself(place: Place) -> None:
    place.write("indexes.yaml", "---".join((INDEX, BLOOMS)))
    place.builds.stop_the_next(MIDDLE)
    session = place.begin()
    with place.builds.stopped(place.table) as engine:
        os.kill(engine, signal.SIGKILL)
    silence_hearts(place.table)

    assert place.ended(session) == 0

    together, *alone = place.kinds()
    assert together == ["bloom_filters", "record_index"]
    assert sorted(alone) == [["bloom_filters"], ["record_index"]]
    assert len(place.runs("abort")) == 1
    assert [place.index_state(name) for name in together] == ["complete"] * 2


def test_a_session_on_what_is_ready_begins_no_run(place: Place) -> None:
    place.write("index.yaml", INDEX)
    assert place.ended(place.begin()) == 0

    assert place.ended(place.begin()) == 0

    assert len(place.runs("build")) == 1


def test_an_operator_killed_twice_in_the_middle_finds_its_run_and_begins_no_other(place: Place) -> None:
    place.write("index.yaml", INDEX)
    place.builds.stop_the_next(MIDDLE)
    sessions = [place.begin()]
    with place.builds.stopped(place.table):
        sessions[0].kill()
        sessions[0].wait()
        before = len(place.lines())
        sessions.append(place.begin())
        place.until("the second session to see the run", lambda: "Building" in str(place.lines()[before:]))
        sessions[1].kill()
        sessions[1].wait()

    assert place.ended(place.begin()) == 0

    (run,) = place.runs("build")
    assert (run / "exit").read_text().split()[0] == "0"
    assert place.index_state() == "complete"


def test_a_run_that_is_killed_is_tried_again(place: Place) -> None:
    place.write("index.yaml", INDEX)
    place.builds.stop_the_next(BEGINNING)
    session = place.begin()
    with place.builds.stopped(place.table) as engine:
        os.kill(engine, signal.SIGKILL)

    assert place.ended(session) == 0

    killed, second = place.runs("build")
    assert [(run / "exit").read_text().split()[0] for run in (killed, second)] == ["137", "0"]


def test_ctrl_c_ends_the_run_and_the_next_session_goes_on(place: Place) -> None:
    place.write("index.yaml", INDEX)
    place.builds.stop_the_next(BEGINNING)
    session = place.begin()
    with place.builds.stopped(place.table) as engine:
        session.send_signal(signal.SIGINT)
        place.until("the run to be asked to end", lambda: is_asked_to_end(engine))

    assert place.ended(session) == 130
    assert all((run / "exit").exists() for run in place.runs("build"))

    assert place.ended(place.begin()) == 0
    assert place.index_state() == "complete"


def test_with_stay_the_run_outlives_the_session_that_is_told_to_end(place: Place) -> None:
    place.write("index.yaml", INDEX)
    place.builds.stop_the_next(BEGINNING)
    session = place.begin("--stay")
    with place.builds.stopped(place.table):
        session.terminate()
        assert place.ended(session) == 143

    (run,) = place.runs("build")
    assert not (run / "stop").exists()
    place.until("the run has ended", (run / "exit").exists)
    assert (run / "exit").read_text().split()[0] == "0"


def test_an_index_whose_manifest_goes_is_dropped_where_that_was_wished(place: Place) -> None:
    place.write("index.yaml", INDEX + "  deletionPolicy: Drop\n")
    session = place.begin("--stay", "--metrics", "0")
    place.until("ready", lambda: place.is_ready("metadataindexes", "orders-keys"))
    found = re.search(r"http://localhost:\d+/metrics", place.said())
    assert found is not None
    with urllib.request.urlopen(found[0]) as page:
        shown = page.read().decode()
    (place.manifests / "index.yaml").unlink()
    place.until("gone", lambda: place.resource("metadataindexes", "orders-keys") is None)

    assert "hudi_index_ready" in shown
    assert place.index_state() == "absent"
    assert "act=start run=orders-keys-" in place.said()
    assert {"deleted": True}.items() <= next(line for line in place.lines() if "deleted" in line).items()
    session.terminate()
    assert place.ended(session) == 143


def test_a_second_operator_on_the_same_state_is_refused_and_harms_nothing(place: Place) -> None:
    session = place.begin("--stay")
    place.until("ready", lambda: place.is_ready("huditables", "orders"))

    assert place.ended(place.begin()) == 1

    assert f"the process {session.pid} has this state folder" in place.said()
    assert session.poll() is None


def test_a_table_that_is_not_there_ends_the_session_with_what_is_wrong(place: Place) -> None:
    place.write("table.yaml", (place.manifests / "table.yaml").read_text().replace("v9_cow_orders", "nowhere"))

    code = place.ended(place.begin())

    assert code == 1
    assert "no such folder" in place.said()


@pytest.mark.parametrize("manifest", [INDEX, SERVICE], ids=["index", "service"])
def test_a_resource_whose_table_no_file_has_ends_the_session_naming_that_table(manifest: str, place: Place) -> None:
    place.write("other.yaml", manifest.replace("tableRef: {name: orders}", "tableRef: {name: nope}"))

    assert place.ended(place.begin()) == 1

    assert "there is no HudiTable nope in default: create it; none of the files that -f names has it" in place.said()
    assert place.runs("build") == place.runs("validate") == []


def test_no_secret_is_seen_anywhere_while_a_run_needs_it_nor_left_afterwards(place: Place) -> None:
    secret = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: store}}\nstringData: {{fs.s3a.secret.key: {CANARY}}}\n"
    place.write("secret.yaml", secret)
    table = (place.manifests / "table.yaml").read_text()
    place.write("table.yaml", table + "  storage: {credentialsSecretRef: {name: store}}\n")
    place.write("index.yaml", INDEX)
    place.builds.stop_the_next(BEGINNING)
    session = place.begin()
    with place.builds.stopped(place.table) as engine:
        (run,) = place.runs("build")
        modes = [file.stat().st_mode & 0o777 for file in run.glob("secrets/store/*")]
        seen = [
            Path(f"/proc/{process}/{what}").read_bytes()
            for process in (session.pid, process_of(run, "keeper"), engine)
            for what in ("cmdline", "environ")
        ]

    assert place.ended(session) == 0

    assert modes == [0o600]
    assert not any(CANARY.encode() in each for each in seen)
    told = subprocess.run(["grep", "-rl", CANARY, str(place.folder)], capture_output=True, check=False).stdout.decode()
    assert told.split() == [str(place.manifests / "secret.yaml")]
