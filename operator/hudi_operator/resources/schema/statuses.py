"""What the operator says of each kind."""

from collections.abc import Mapping

from hudi_engine.contract import MAX_COLUMNS
from hudi_operator.resources.schema.nodes import Schema, Type, choice, claim, group, text, time, whole
from hudi_operator.words import Kind

MAX_HISTORY = 10
_MAX_MESSAGE = 4_096


def _name(description: str) -> Schema:
    return text(description, 253, least=0)


def _message(description: str) -> Schema:
    return text(description, _MAX_MESSAGE, least=0)


def _list(description: str, entry: Schema, most: int, *keys: str) -> Schema:
    return Schema(Type.LIST, description, entry=entry, most=most, keys=keys)


def _names(description: str, most: int) -> Schema:
    return _list(description, text("", 255, least=0), most)


def _conditions() -> Schema:
    condition = group(
        "",
        {
            "type": text("Which claim.", 64),
            "status": choice("Whether it holds.", ("True", "False", "Unknown")),
            "reason": text("Why, in one word for programs.", 64),
            "message": _message("Why, in a sentence for people."),
            "lastTransitionTime": time("Since when the status is what it is."),
            "observedGeneration": whole("Of which generation of the spec this is said."),
        },
        required=("type", "status", "reason", "message", "lastTransitionTime"),
    )
    return _list("Claims about the resource; kubectl wait --for=condition=Ready waits for one.", condition, 16, "type")


def _run_fields() -> dict[str, Schema]:
    return {
        "name": _name("Name of the run: of its Job, or of its folder in local mode."),
        "action": _name("What it does: plan, build, drop, validate and so on."),
        "trigger": _name("What it was started for: a scheduled minute, a token, a plan's hash."),
        "attempt": whole("Which attempt for that trigger it is, from 1."),
        "phase": _name("Waiting, Running, Ended or Lost."),
        "outcome": _name("What became of it, as the engine's report has it."),
        "reason": _name("The class of its failure, in one word."),
        "message": _message("What it said, or why it waits."),
        "startTime": time("When it was ordered."),
        "completionTime": time("When it ended."),
        "exitCode": whole("Of its process."),
        "instant": _name("The instant on the table's timeline that it made."),
        "rows": whole("Rows it went through."),
        "durationSeconds": whole("How long it took."),
        "indexes": _list(
            "What became of each index.",
            group("", {"name": _name("Of the index."), "state": _name("Valid, invalid, ready and so on.")}),
            16,
        ),
    }


def _run(description: str, *, is_terse: bool = False) -> Schema:
    """`is_terse` where another field of the status describes the same fields."""
    return group(description, _run_fields(), is_terse=is_terse)


def _status(facts: Mapping[str, Schema]) -> Schema:
    fields = {
        "observedGeneration": whole("The generation of the spec that all this is about."),
        "state": text("One word for people; programs read the conditions.", 64),
        "conditions": _conditions(),
        **facts,
    }
    return group("What was last seen and is being done. Can be made again from nothing.", fields)


def _table() -> Schema:
    pending = group(
        "",
        {
            "instant": _name("When it was requested, as Hudi writes it."),
            "action": _name("Hudi's word for what it does."),
            "state": _name("requested or inflight."),
            "requestedTime": time("When it was requested."),
            "live": claim("Whether its writer has a live heartbeat."),
        },
    )
    run = group(
        "",
        {
            "name": _name("Name of the run."),
            "action": _name("What it does."),
            "kind": _name("Kind of the resource it belongs to."),
            "resource": _name("Name of that resource."),
            "startTime": time("When it was ordered."),
        },
    )
    return _status(
        {
            "lastObservedTime": time("When the table was last looked at, up to 10 minutes ago while nothing changes."),
            "table": group(
                "What hoodie.properties says.",
                {
                    "name": text("hoodie.table.name.", 255, least=0),
                    "type": _name("COPY_ON_WRITE or MERGE_ON_READ."),
                    "version": whole("hoodie.table.version."),
                    "timelineLayoutVersion": whole("hoodie.timeline.layout.version."),
                    "recordKeyFields": _names("The fields that make a record's key.", 64),
                    "partitionFields": _names("The fields that make a record's partition.", 64),
                    "metadataPartitions": _names("Indexes that readers use.", 64),
                    "metadataPartitionsInflight": _names("Indexes being built.", 64),
                },
            ),
            "timeline": group(
                "What the timeline holds.",
                {
                    "latestCompletedInstant": _name("The newest completed instant."),
                    "latestCompletedTime": time("When that was requested."),
                    "oldestPendingInstant": _name("The oldest instant that is not completed."),
                    "oldestPendingTime": time("When that was requested."),
                    "activeInstants": whole("Instants that are not archived."),
                    "pendingInstants": whole("Those that are not completed."),
                    "pending": _list("The oldest of those that are not completed.", pending, 20),
                },
            ),
            "activeRuns": _list("Runs on this table, by whatever resource.", run, 16),
        }
    )


def _index() -> Schema:
    return _status(
        {
            "instants": group(
                "How far the index is.",
                {
                    "plan": _name("Instant of the plan it was built by."),
                    "base": _name("The last commit that its base files are of without a gap."),
                    "caughtUpTo": _name("The last commit before the first that may be missing."),
                    "head": _name("The newest commit of the data."),
                    "lagInstants": whole("So many commits may be missing; an upper bound."),
                    "lagSeconds": whole("So long the oldest of them has waited."),
                },
            ),
            "progress": group(
                "Of the run under way.",
                {
                    "phase": _name("plan, base, catch-up, complete and so on."),
                    "done": whole("Of the phase, in its own unit."),
                    "total": whole("All there is to do in the phase, if that is known."),
                    "rows": whole("Rows read so far."),
                    "percent": whole("Of the whole run, if that is known."),
                    "summary": _name("The same in a few words."),
                    "updatedTime": time("When the run said so."),
                },
            ),
            "plan": group(
                "What a build would take; with approval Manual it waits for approval by this hash.",
                {
                    "hash": _name("What the annotation hudi-operator.dev/approve must say."),
                    "keys": whole("Keys to index, estimated."),
                    "shards": whole("File groups of the index."),
                    "readBytes": whole("To be read."),
                    "writeBytes": whole("To be written."),
                    "memoryBytes": whole("Needed."),
                    "expectedDurationSeconds": whole("How long it may take."),
                    "plannedTime": time("When it was planned."),
                },
            ),
            "activeRuns": _list("The run under way.", _run(""), 1),
            "history": _list("Ended runs, the newest first.", _run("", is_terse=True), MAX_HISTORY),
            "duplicates": whole(
                "Record keys that had several rows when the index was built, of each the newest is in it."
            ),
            "lastHandledRebuildToken": _name("The last rebuildToken that was heeded."),
            "columns": group(
                "Of which columns of the spec every file is known to have statistics.",
                {
                    "run": _name("The last run that asked for any."),
                    "names": _names("Those that were named ever since.", MAX_COLUMNS),
                },
            ),
        }
    )


def _service() -> Schema:
    return _status(
        {
            "lastScheduleTime": time("The last scheduled minute that a run was started for."),
            "nextScheduleTime": time("The next scheduled minute."),
            "lastSuccessfulTime": time("When the last successful run ended."),
            "missedRuns": whole("Scheduled minutes that passed without a run, since the last that had one."),
            "lastRun": _run("The newest ended run."),
            "activeRuns": _list("Runs under way.", _run("", is_terse=True), 16),
            "history": _list("Ended runs, the newest first.", _run("", is_terse=True), 2 * MAX_HISTORY),
            "lastHandledRunToken": _name("The last runToken that was heeded."),
        }
    )


STATUSES: Mapping[Kind, Schema] = {Kind.TABLE: _table(), Kind.INDEX: _index(), Kind.SERVICE: _service()}
