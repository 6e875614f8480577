"""What users write of each kind."""

from collections.abc import Mapping

from hudi_operator.resources.model import (
    ENGINE_KINDS,
    ConcurrencyMode,
    ConcurrencyPolicy,
    Guard,
    ServiceType,
)
from hudi_operator.resources.schema.conf import hadoop_conf
from hudi_operator.resources.schema.execution import execution
from hudi_operator.resources.schema.index import index
from hudi_operator.resources.schema.nodes import (
    ChangeRule,
    Rule,
    Schema,
    Type,
    choice,
    claim,
    group,
    matching,
    text,
    unchanged,
    whole,
    without,
)
from hudi_operator.resources.schema.values import ONE_LINE, location, secret_ref, table_ref, token
from hudi_operator.words import Kind

_SUSPENDED = "(has(self.suspend) && self.suspend)"
_HAS_LOCK, _HAD_LOCK = "has(self.concurrency.lock)", "has(oldSelf.concurrency.lock)"
_SAME_LOCK = f"{_HAS_LOCK} == {_HAD_LOCK} && (!{_HAS_LOCK} || self.concurrency.lock == oldSelf.concurrency.lock)"

_MINUTE, _HOUR = "[0-5]?[0-9]", "([01]?[0-9]|2[0-3])"
_DAY, _MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"
_WEEKDAY = "([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)"
_CRON = "(?i)^{}$".format(
    " +".join(
        rf"{item}(,{item})*"
        for item in (rf"(\*|{value}(-{value})?)(/[1-9][0-9]?)?" for value in (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY))
    )
)


def _lock() -> Schema:
    node = r"^/[^/`$;|&<>\\]+(/[^/`$;|&<>\\]+)*$"
    zookeeper = {
        "connectString": text(
            "The servers, as host:2181,host:2181, with a chroot behind them if there is one.",
            512,
            matching(
                r"^[A-Za-z0-9_.-]+(:[0-9]{1,5})?(,[A-Za-z0-9_.-]+(:[0-9]{1,5})?)*(/[A-Za-z0-9_.-]+)*$",
                "must be servers, as host:2181,host:2181, and a chroot if there is one",
            ),
        ),
        "basePath": text(
            "The node below which locks are, as writers have it: hoodie.write.lock.zookeeper.base_path.",
            256,
            ONE_LINE,
            matching(node, "must begin with / and not end with it, without empty parts and shell characters"),
            without(r"(^|/)\.\.?(/|$)", "must not have '.' or '..' between slashes"),
        ),
        "lockKey": text(
            "The table's lock, as writers have it: hoodie.write.lock.zookeeper.lock_key.",
            256,
            ONE_LINE,
            matching(r"^[^/`$;|&<>\\]+$", "must be one part of a path, without shell characters"),
            without(r"^\.\.?$", "must be a name, not '.' or '..'"),
        ),
        "sessionTimeoutSeconds": whole("When ZooKeeper takes a holder for dead.", 1, 3_600),
        "connectionTimeoutSeconds": whole("How long to try to connect.", 1, 3_600),
        "credentialsSecretRef": secret_ref("Secret whose keys are hudi.engine.zookeeper. properties."),
    }
    return group(
        "The lock that all writers of the table take. Changed only while the table is suspended.",
        {
            "zookeeper": group(
                "Hudi's ZookeeperBasedLockProvider.", zookeeper, required=("connectString", "basePath", "lockKey")
            ),
            "fileSystem": group(
                "Hudi's FileSystemBasedLockProvider.",
                {"path": location("Folder of the lock file; the table's .hoodie unless given.")},
            ),
        },
        Rule(
            "has(self.zookeeper) != has(self.fileSystem)",
            "exactly one of zookeeper and fileSystem must be given",
            lambda lock: (lock.get("zookeeper") is None) != (lock.get("fileSystem") is None),
        ),
    )


def _concurrency() -> Schema:
    return group(
        "How the table's writers and the operator's runs keep apart.",
        {
            "mode": choice(
                "SingleWriter: your word that nobody writes while a run does. Optimistic, where lock is given: all "
                "writers share it.",
                list(ConcurrencyMode),
            ),
            "lock": _lock(),
            "heartbeat": group(
                "Heartbeats as the writers have them: hoodie.client.heartbeat.",
                {
                    "intervalSeconds": whole("A beat in so many seconds.", 1, 3_600),
                    "tolerableMisses": whole("So many may be missed.", 1, 100),
                },
            ),
        },
        Rule(
            "has(self.lock) || has(self.mode) && self.mode == 'SingleWriter'",
            "needs lock, which all writers take, or mode SingleWriter",
            lambda given: given.get("lock") is not None or given.get("mode") == ConcurrencyMode.SINGLE_WRITER,
        ),
        Rule(
            "!has(self.mode) || self.mode != 'SingleWriter' || !has(self.lock)",
            "lock has no meaning with mode SingleWriter: leave it out, or use mode Optimistic",
            lambda given: given.get("mode") != ConcurrencyMode.SINGLE_WRITER or given.get("lock") is None,
        ),
    )


def _table() -> Schema:
    return group(
        "What is wanted.",
        {
            "basePath": location(
                "Where the table is, as its writers have it: a path, or a URL as Hadoop writes it. Cannot be changed."
            ),
            "tableName": text(
                "What hoodie.table.name must be; another name is said, and nothing is run.", 255, ONE_LINE
            ),
            "storage": group(
                "How to reach the table.",
                {
                    "credentialsSecretRef": secret_ref("Secret each of whose keys is a property of Hadoop."),
                    "hadoopConf": hadoop_conf(),
                },
            ),
            "concurrency": _concurrency(),
            "observe": group(
                "How the table is watched.",
                {"intervalSeconds": whole("How often it is looked at.", 5, 3_600, default=30)},
            ),
            "metadataGuard": choice(
                "What is done about an index that a writer dropped or that is wrong: it is said, rebuilt, or ignored.",
                list(Guard),
                default=Guard.WARN.value,
            ),
            "suspend": claim("No new runs on this table, by whatever resource.", default=False),
            "execution": execution("How runs on this table are carried out unless their resource says otherwise."),
        },
        required=("basePath", "concurrency"),
        changes=(
            ChangeRule(
                "self.basePath == oldSelf.basePath",
                "basePath cannot be changed: delete the resource and make another",
                lambda new, old: bool(new["basePath"] == old["basePath"]),
            ),
            ChangeRule(
                f"{_SUSPENDED} || ({_SAME_LOCK})",
                "the lock may be changed only while the table is suspended: set suspend to true first",
                lambda new, old: bool(
                    new.get("suspend") or new["concurrency"].get("lock") == old["concurrency"].get("lock")
                ),
            ),
        ),
    )


def _service() -> Schema:
    return group(
        "What is wanted: that runs take place.",
        {
            "tableRef": table_ref(),
            "type": choice("What the runs do. Cannot be changed.", list(ServiceType), changes=(unchanged(),)),
            "validate": group(
                "Of type Validate: what is compared with the data.",
                {
                    "indexes": Schema(
                        Type.LIST,
                        "Which indexes, all unless given.",
                        entry=choice("", list(ENGINE_KINDS)),
                        is_set=True,
                        most=len(ENGINE_KINDS),
                    ),
                    "sample": whole("So many file groups, all unless given.", 1, 1_000_000),
                },
            ),
            "schedule": text(
                "When: minute, hour, day of the month, month and weekday, as cron has them.",
                128,
                without("(?i)TZ", "must not have a time zone: write it into timeZone"),
                matching(_CRON, "must be five fields, minute hour day month weekday, as in '30 2 * * *'"),
            ),
            "timeZone": text(
                "Zone of the schedule, as Europe/Berlin; UTC unless given.",
                64,
                matching(
                    "^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$", "must be the name of a time zone, as Europe/Berlin"
                ),
                without("^Local$", "must be the name of a time zone, as Europe/Berlin"),
            ),
            "startingDeadlineSeconds": whole(
                "How late a scheduled run may begin; else it counts as missed.", 10, 604_800
            ),
            "concurrencyPolicy": choice(
                "A run is due and one is under way: Forbid leaves it out, Replace stops the one under way.",
                list(ConcurrencyPolicy),
                default=ConcurrencyPolicy.FORBID.value,
            ),
            "suspend": claim("No new runs; one under way goes on.", default=False),
            "runToken": token("Another token makes one run now."),
            "successfulRunsHistoryLimit": whole("So many succeeded runs are kept.", 0, 10, default=3),
            "failedRunsHistoryLimit": whole("So many failed runs are kept.", 0, 10, default=1),
            "execution": execution("How runs are carried out; of each field this one beats the table's."),
        },
        Rule(
            "!has(self.validate) || self.type == 'Validate'",
            "validate belongs to type Validate",
            lambda spec: spec.get("validate") is None or spec.get("type") == ServiceType.VALIDATE,
        ),
        Rule(
            "!has(self.timeZone) || has(self.schedule)",
            "timeZone needs schedule",
            lambda spec: spec.get("timeZone") is None or spec.get("schedule") is not None,
        ),
        Rule(
            "!has(self.startingDeadlineSeconds) || has(self.schedule)",
            "startingDeadlineSeconds needs schedule",
            lambda spec: spec.get("startingDeadlineSeconds") is None or spec.get("schedule") is not None,
        ),
        required=("tableRef", "type"),
    )


SPECS: Mapping[Kind, Schema] = {Kind.TABLE: _table(), Kind.INDEX: index(), Kind.SERVICE: _service()}
