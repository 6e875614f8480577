"""Free properties: whose names they may have, and what no property may do."""

from hudi_operator.resources.schema.nodes import Rule, Schema, Type, keys_matching, keys_without, text, values_without
from hudi_operator.resources.schema.values import CONTROL

_MAX_ENTRIES, _MAX_VALUE = 32, 512
_REST = r"[A-Za-z0-9_.-]{1,200}$"

_AND_REST = "and then letters, digits, '.', '_', '-'"

_SECRET = r"secret|password|passphrase|token|credential|([._-]key|[._]sas)(\.|$)"
_CODE = r"class|plugin|listener|provider|factory|callback|registrator|script|javaoptions|library\.?path|reporter"

_SPARK = (
    r"(?i)^spark\.(master$|remote$|app\.|submit\.|kubernetes\.|yarn\.|mesos\.|jars|files$|archives$|pyfiles|"
    r"authenticate|ssl\.|acls\.|admin\.|hadoop\.|pyspark\.|python\.|r\.|metrics\.|security\.|redaction\.|"
    r"serializer$|logconf$|ui\.filters|executorenv\.|repl\.|connect\.|"
    r"sql\.(extensions|catalog|hive|warehouse|cache\.serializer)|"
    # By a name without dots, too, these load a class; and these name a place to write to.
    r"shuffle\.manager$|(io|eventlog|shuffle\.mapstatus)\.compression\.codec$|storage\.replication\.|"
    r"storage\.decommission\.fallback|local\.dir$|eventlog\.dir$|"
    r"driver\.(host|port|bindaddress|blockmanager|extra|default|resource\.|memory$|cores$|log\.)|"
    r"executor\.(extra|default|resource\.|instances$|id$))"
)
_HUDI = (
    r"(?i)^(hoodie\.(base\.path|table\.|database\.|write\.concurrency\.mode|client\.heartbeat\.|metadata\.([a-z.]+\.)?(enable|async)$|"
    r"cleaner\.policy\.failed\.writes|"
    r"write\.lock\.(provider|zookeeper\.|filesystem\.path|hivemetastore\.|dynamodb\.|storage\.)|"
    r"(datasource\.)?(hive_sync|meta\.sync|meta_sync)))|strategy"
)
_HADOOP = r"(?i)^fs\.(default|abstractfilesystem\.)|\.impl(\.|$)|signer|^hadoop\.(security\.group|ssl\.|proxyuser\.)"

_ONE_LINE = values_without(f"[{CONTROL}`$;|&<>\\\\]", "must be one line without shell characters (` $ ; | & < > \\)")
_NO_CLASS, _NO_LOGIN = r"(^|,) *([A-Za-z_][A-Za-z0-9_]*\.)+[A-Z][A-Za-z0-9_]* *(,|$)", "://[^/]*:[^/]*@"
_HARMLESS = values_without(f"{_NO_CLASS}|{_NO_LOGIN}", "must not name a class or carry credentials")


def spark_conf() -> Schema:
    return _conf(
        "Properties of Spark. Nothing that the operator sets itself, no code, no secret.",
        keys_matching(r"^spark\." + _REST, f"each key must be spark. {_AND_REST}"),
        keys_without(
            f"{_SPARK}|{_CODE}|{_SECRET}",
            "is set by the operator or may not be set: master, submission, pods, jars, files, code, secrets; "
            "Hadoop's properties belong into hadoopConf",
        ),
    )


def hudi_conf() -> Schema:
    return _conf(
        "Properties of Hudi, and hudi.engine.timeline.timezone. Nothing that other fields say, no class, no secret.",
        keys_matching(
            rf"^(hoodie\.{_REST.removesuffix('$')}|hudi\.engine\.timeline\.timezone)$",
            f"each key must be hoodie. {_AND_REST}",
        ),
        keys_without(
            f"{_HUDI}|{_CODE}|{_SECRET}",
            "is set by the operator or may not be set: the table's place, name and properties, locks, concurrency and "
            "heartbeats have fields of their own; nothing may name a class or be secret",
        ),
    )


def hadoop_conf() -> Schema:
    return _conf(
        "Properties of Hadoop's file systems, as fs.s3a.endpoint. No class, no secret.",
        keys_matching(r"^(fs|hadoop)\." + _REST, f"each key must be fs. or hadoop. {_AND_REST}"),
        keys_without(
            f"{_HADOOP}|{_CODE}|{_SECRET}",
            "may not be set: secrets belong into the Secret of storage.credentialsSecretRef, and no key may name code",
        ),
    )


def _conf(description: str, *about_keys: Rule) -> Schema:
    return Schema(
        Type.MAP,
        description,
        entry=text("", _MAX_VALUE, least=0),
        most=_MAX_ENTRIES,
        rules=(*about_keys, _ONE_LINE, _HARMLESS),
    )
