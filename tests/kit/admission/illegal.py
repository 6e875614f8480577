"""Manifests that are refused, by the API server and by the operator alike, and the words with which they are."""

from dataclasses import dataclass
from typing import Final

from hudi_operator.words import Kind
from tests.kit.admission.manifests import ZOOKEEPER, Edits

_TABLE, _INDEX, _SERVICE = Kind.TABLE, Kind.INDEX, Kind.SERVICE


@dataclass(frozen=True, slots=True)
class Illegal:
    """`path` is the field that is named, `message` what is said of it; `before` is what was there, if it matters."""

    why: str
    kind: Kind
    edits: Edits
    path: str
    message: str
    before: Edits | None = None


_POD: Final = "spec.execution.podTemplate"
_LOCATION: Final = "must be one line without quotes, globs and shell characters"
_SCHEME: Final = "must begin with / or file:/ and name a folder, or with s3://"
_DOTS: Final = "must not have '.' or '..' between slashes"
_LOGIN: Final = "must not carry credentials"
_NAME: Final = "must be a name of Kubernetes"
_SPARK: Final = "is set by the operator or may not be set: master"
_HUDI: Final = "is set by the operator or may not be set: the table's place"
_HADOOP: Final = "may not be set: secrets belong into the Secret of storage.credentialsSecretRef"
_VALUE: Final = "must be one line without shell characters (` $ ; | & < > \\)"
_CLASS: Final = "must not name a class or carry credentials"
_CRON: Final = "must be five fields, minute hour day month weekday"
_ZONE: Final = "must be the name of a time zone"
_TOKEN: Final = "must be letters, digits, '-', '_' and '.', a letter or digit first and last"
_FIXED: Final = "cannot be changed: delete the resource and make another"
_LOCK_MOVES: Final = "the lock may be changed only while the table is suspended"
_MEMORY: Final = "must be bytes, as 512Mi or 2Gi"
_COLUMN: Final = "must be the name of a column: letters, digits and '_', no digit first"
_ONE_COLUMN: Final = "a SecondaryIndex needs columns with exactly one column: make a resource for each"
_STATS: Final = {"spec.indexType": "ColumnStats"}
_BY_CUSTOMER: Final = {"spec.indexType": "SecondaryIndex", "spec.columns": ["customer"]}
_CORES: Final = "must be cores, as 500m or 2"


def _base_path(why: str, path: str, message: str) -> Illegal:
    return Illegal(f"a base path {why}", _TABLE, {"spec.basePath": path}, "spec.basePath", message)


def _conf(why: str, field: str, key: str, message: str, value: str = "x") -> Illegal:
    path = f"spec.{'storage' if field == 'hadoopConf' else 'execution'}.{field}"
    return Illegal(f"{field}: {why}", _TABLE, {path: {key: value}}, path, message)


def _resources(why: str, resources: dict[str, object], part: str, message: str) -> Illegal:
    path = "spec.execution.driver.resources"
    return Illegal(f"resources: {why}", _INDEX, {path: resources}, path + part, message)


def _schedule(why: str, schedule: str, message: str = _CRON) -> Illegal:
    return Illegal(f"a schedule {why}", _SERVICE, {"spec.schedule": schedule}, "spec.schedule", message)


def _column(why: str, column: str, message: str) -> Illegal:
    edits = {"spec.indexType": "ColumnStats", "spec.columns": ["id", column]}
    return Illegal(f"a column {why}", _INDEX, edits, "spec.columns[1]", message)


def _template(why: str, template: Edits, path: str, field: str) -> Illegal:
    where = f"{_POD}.driver"
    return Illegal(
        f"a pod template with {why}",
        _TABLE,
        {where: template},
        f"{where}{path}",
        f'unknown field "{where}{path}.{field}"',
    )


def _zookeeper(why: str, field: str, value: str, message: str) -> Illegal:
    concurrency = {"mode": "Optimistic", "lock": {"zookeeper": {**ZOOKEEPER, field: value}}}
    path = f"spec.concurrency.lock.zookeeper.{field}"
    return Illegal(f"a ZooKeeper lock {why}", _TABLE, {"spec.concurrency": concurrency}, path, message)


_BASE_PATHS: Final = (
    _base_path("with a newline", "/tables/orders\nmore", _LOCATION),
    _base_path("with a carriage return at its end", "/tables/orders\r", _LOCATION),
    _base_path("with a line end of Unicode's", "/tables/orders\u2028x", _LOCATION),
    _base_path("with a command", "/tables/$(reboot)", _LOCATION),
    _base_path("with a second command", "/tables/orders;reboot", _LOCATION),
    _base_path("with a glob", "/tables/*", _LOCATION),
    _base_path("with a quote", "/tables/'orders", _LOCATION),
    _base_path("that leads upwards", "/tables/../etc", _DOTS),
    _base_path("that ends upwards", "s3a://lake/orders/..", _DOTS),
    _base_path("with a dot between slashes", "file:/tables/./orders", _DOTS),
    _base_path("that is relative", "tables/orders", _SCHEME),
    _base_path("of another machine's files", "file://other/tables/orders", _SCHEME),
    _base_path("of a scheme that the engine lacks", "hdfs://namenode/orders", _SCHEME),
    _base_path("without a bucket", "s3a:///orders", _SCHEME),
    _base_path("that is the root", "/", _SCHEME),
    _base_path("with a login", "s3a://key:word@lake/orders", _LOGIN),
    _base_path("that is empty", "", "should be at least 1 chars long"),
    _base_path("that is too long", "/" + "x" * 1_024, "Too long: may not be more than 1024"),
    Illegal("no base path", _TABLE, {"spec.basePath": None}, "spec.basePath", "Required value"),
)

_CONFS: Final = (
    _conf("the master", "sparkConf", "spark.master", _SPARK),
    _conf(
        "a service account of Kubernetes",
        "sparkConf",
        "spark.kubernetes.authenticate.driver.serviceAccountName",
        _SPARK,
    ),
    _conf("a namespace of Kubernetes", "sparkConf", "spark.kubernetes.namespace", _SPARK),
    _conf("jars", "sparkConf", "spark.jars", _SPARK, "https://host/evil.jar"),
    _conf("packages", "sparkConf", "spark.jars.packages", _SPARK),
    _conf("the driver's class path", "sparkConf", "spark.driver.extraClassPath", _SPARK),
    _conf("the executors' options of Java", "sparkConf", "spark.executor.extraJavaOptions", _SPARK),
    _conf("plugins", "sparkConf", "spark.plugins", _SPARK),
    _conf("listeners", "sparkConf", "spark.extraListeners", _SPARK),
    _conf("extensions", "sparkConf", "spark.sql.extensions", _SPARK),
    _conf("a program", "sparkConf", "spark.pyspark.python", _SPARK),
    _conf("an environment", "sparkConf", "spark.executorEnv.LD_PRELOAD", _SPARK),
    _conf("a property of Hadoop", "sparkConf", "spark.hadoop.fs.s3a.secret.key", _SPARK),
    _conf("all properties in the log", "sparkConf", "spark.logConf", _SPARK, "true"),
    _conf("a script", "sparkConf", "spark.executor.resource.gpu.discoveryScript", _SPARK),
    _conf("a class of no package", "sparkConf", "spark.shuffle.manager", _SPARK, "Evil"),
    _conf("a class of small letters", "sparkConf", "spark.io.compression.codec", _SPARK, "evil.pkg.lower"),
    _conf("a class for event logs", "sparkConf", "spark.eventLog.compression.codec", _SPARK, "Evil"),
    _conf("a class for the sizes of blocks", "sparkConf", "spark.shuffle.mapStatus.compression.codec", _SPARK, "Evil"),
    _conf("a class for copies", "sparkConf", "spark.storage.replication.policy", _SPARK, "Evil"),
    _conf("a class for caches", "sparkConf", "spark.sql.cache.serializer", _SPARK, "Evil"),
    _conf("data in another bucket", "sparkConf", "spark.storage.decommission.fallbackStorage.path", _SPARK, "s3a://e/"),
    _conf("a folder of the machine", "sparkConf", "spark.local.dir", _SPARK, "/etc"),
    _conf("event logs anywhere", "sparkConf", "spark.eventLog.dir", _SPARK, "file:/etc"),
    _conf("capitals make no other key", "sparkConf", "spark.KUBERNETES.namespace", _SPARK),
    _conf("a key that is not Spark's", "sparkConf", "hoodie.table.name", "each key must be spark."),
    _conf("a key with a space", "sparkConf", "spark.sql x", "each key must be spark."),
    _conf("a key with a newline", "sparkConf", "spark.sql\nspark.master", "each key must be spark."),
    _conf("a value with a newline", "sparkConf", "spark.sql.session.timeZone", _VALUE, "UTC\nspark.master local"),
    _conf("a value with a variable", "sparkConf", "spark.sql.session.timeZone", _VALUE, "${env:AWS_SECRET_ACCESS_KEY}"),
    _conf("a value with a command", "sparkConf", "spark.sql.session.timeZone", _VALUE, "`reboot`"),
    _conf("a value that names a class", "sparkConf", "spark.sql.session.timeZone", _CLASS, "org.evil.Codec"),
    _conf(
        "a value that is too long",
        "sparkConf",
        "spark.sql.session.timeZone",
        "Too long: may not be more than 512",
        "x" * 513,
    ),
    _conf("the table's path", "hudiConf", "hoodie.base.path", _HUDI),
    _conf("the table's name", "hudiConf", "hoodie.table.name", _HUDI),
    _conf("a lock provider", "hudiConf", "hoodie.write.lock.provider", _HUDI),
    _conf("a lock's place", "hudiConf", "hoodie.write.lock.zookeeper.url", _HUDI),
    _conf("the concurrency mode", "hudiConf", "hoodie.write.concurrency.mode", _HUDI),
    _conf("an index by a property", "hudiConf", "hoodie.metadata.record.level.index.enable", _HUDI, "true"),
    _conf("who builds indexes", "hudiConf", "hoodie.metadata.index.async", _HUDI, "true"),
    _conf("a payload class", "hudiConf", "hoodie.compaction.payload.class", _HUDI),
    _conf("a strategy, which is a class", "hudiConf", "hoodie.compaction.strategy", _HUDI),
    _conf("a value that names a class", "hudiConf", "hoodie.index.bucket.engine", _CLASS, "a.b,org.evil.Engine"),
    _conf("a key that is not Hudi's", "hudiConf", "fs.s3a.endpoint", "each key must be hoodie."),
    _conf(
        "the engine's word that nobody else writes",
        "hudiConf",
        "hudi.engine.single.writer",
        "each key must be hoodie.",
        "true",
    ),
    _conf("a secret key", "hadoopConf", "fs.s3a.secret.key", _HADOOP),
    _conf("an access key", "hadoopConf", "fs.s3a.access.key", _HADOOP),
    _conf("a bucket's secret key", "hadoopConf", "fs.s3a.bucket.lake.secret.key", _HADOOP),
    _conf("an account's key", "hadoopConf", "fs.azure.account.key.lake.dfs.core.windows.net", _HADOOP),
    _conf("a session's token", "hadoopConf", "fs.s3a.session.token", _HADOOP),
    _conf("a file system's class", "hadoopConf", "fs.s3a.impl", _HADOOP),
    _conf("a provider of credentials", "hadoopConf", "fs.s3a.aws.credentials.provider", _HADOOP),
    _conf("a store of credentials", "hadoopConf", "hadoop.security.credential.provider.path", _HADOOP),
    _conf("a login in an address", "hadoopConf", "fs.s3a.endpoint", _CLASS, "https://key:word@minio:9000"),
    Illegal(
        "hudiConf: too many properties",
        _TABLE,
        {"spec.execution.hudiConf": {f"hoodie.x{number}": "1" for number in range(33)}},
        "spec.execution.hudiConf",
        "Too many: 33: must have at most 32 items",
    ),
    Illegal(
        "hudiConf: a value that is a number",
        _TABLE,
        {"spec.execution.hudiConf": {"hoodie.write.lock.wait_time_ms": 5}},
        "spec.execution.hudiConf.hoodie.write.lock.wait_time_ms",
        "must be of type string",
    ),
)

_TABLES: Final = (
    Illegal(
        "a name that leaves no room",
        _TABLE,
        {"metadata.name": "x" * 37},
        "",
        "metadata.name must be at most 36 characters",
    ),
    Illegal("no spec", _INDEX, {"spec": None}, "spec", "Required value"),
    Illegal("a table name of two lines", _TABLE, {"spec.tableName": "a\nb"}, "spec.tableName", "must be one line"),
    Illegal(
        "optimistic writers without a lock",
        _TABLE,
        {"spec.concurrency.mode": "Optimistic"},
        "spec.concurrency",
        "needs lock, which all writers take, or mode SingleWriter",
    ),
    Illegal(
        "a lock for a single writer",
        _TABLE,
        {"spec.concurrency.lock": {"fileSystem": {}}},
        "spec.concurrency",
        "lock has no meaning with mode SingleWriter",
    ),
    Illegal(
        "two locks",
        _TABLE,
        {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {}, "zookeeper": ZOOKEEPER}}},
        "spec.concurrency.lock",
        "exactly one of zookeeper and fileSystem must be given",
    ),
    Illegal(
        "a lock that is none",
        _TABLE,
        {"spec.concurrency": {"mode": "Optimistic", "lock": {}}},
        "spec.concurrency.lock",
        "exactly one of zookeeper and fileSystem must be given",
    ),
    Illegal(
        "a lock file outside",
        _TABLE,
        {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {"path": "/locks/../etc"}}}},
        "spec.concurrency.lock.fileSystem.path",
        _DOTS,
    ),
    _zookeeper(
        "of servers with a second command", "connectString", "zk:2181;reboot", "must be servers, as host:2181,host:2181"
    ),
    _zookeeper("of no server", "connectString", ",", "must be servers, as host:2181,host:2181"),
    _zookeeper("below a relative node", "basePath", "hudi", "must begin with / and not end with it"),
    _zookeeper(
        "below a node that leads upwards", "basePath", "/hudi/../zookeeper", "must not have '.' or '..' between slashes"
    ),
    _zookeeper("with a key of two parts", "lockKey", "a/b", "must be one part of a path"),
    _zookeeper("with a key of two lines", "lockKey", "a\nb", "must be one line without control characters"),
    Illegal(
        "neither a lock nor a mode of concurrency",
        _TABLE,
        {"spec.concurrency": {"heartbeat": {"intervalSeconds": 5}}},
        "spec.concurrency",
        "needs lock, which all writers take, or mode SingleWriter",
    ),
    Illegal(
        "a guard that there is not",
        _TABLE,
        {"spec.metadataGuard": "Delete"},
        "spec.metadataGuard",
        'Unsupported value: "Delete": supported values: "Warn", "Rebuild", "Ignore"',
    ),
    Illegal(
        "a table watched without a pause",
        _TABLE,
        {"spec.observe.intervalSeconds": 0},
        "spec.observe.intervalSeconds",
        "should be greater than or equal to 5",
    ),
    Illegal("suspend in words", _TABLE, {"spec.suspend": "yes"}, "spec.suspend", "must be of type boolean"),
    Illegal(
        "a secret of another namespace",
        _TABLE,
        {"spec.storage.credentialsSecretRef": {"name": "other/secret"}},
        "spec.storage.credentialsSecretRef.name",
        _NAME,
    ),
    Illegal(
        "credentials in the manifest",
        _TABLE,
        {"spec.storage.credentials": {"fs.s3a.secret.key": "x"}},
        "spec.storage",
        'unknown field "spec.storage.credentials"',
    ),
    Illegal("a field that there is not", _TABLE, {"spec.basepath": "/x"}, "spec", 'unknown field "spec.basepath"'),
)

_EXECUTIONS: Final = (
    Illegal(
        "executors for a driver alone",
        _TABLE,
        {"spec.execution": {"mode": "DriverOnly", "executor": {"instances": 2}}},
        "spec.execution",
        "executor has no meaning with mode DriverOnly",
    ),
    Illegal(
        "a mode that there is not",
        _INDEX,
        {"spec.execution.mode": "Cluster"},
        "spec.execution.mode",
        'Unsupported value: "Cluster": supported values: "Spark", "DriverOnly"',
    ),
    Illegal(
        "an image with a shell character",
        _SERVICE,
        {"spec.execution.image": "engine:1;reboot"},
        "spec.execution.image",
        "must be the name of an image",
    ),
    Illegal(
        "a secret for images given twice",
        _TABLE,
        {"spec.execution.imagePullSecrets": [{"name": "a"}, {"name": "a"}]},
        "spec.execution.imagePullSecrets[1]",
        "Duplicate value",
    ),
    Illegal(
        "a service account with a capital",
        _TABLE,
        {"spec.execution.serviceAccountName": "Admin"},
        "spec.execution.serviceAccountName",
        _NAME,
    ),
    Illegal(
        "no executors",
        _TABLE,
        {"spec.execution.executor": {"instances": 0}},
        "spec.execution.executor.instances",
        "should be greater than or equal to 1",
    ),
    Illegal(
        "a deadline of a year",
        _INDEX,
        {"spec.execution.activeDeadlineSeconds": 31_536_000},
        "spec.execution.activeDeadlineSeconds",
        "should be less than or equal to 2592000",
    ),
    Illegal(
        "a record that is gone before anybody has read it",
        _INDEX,
        {"spec.execution.ttlSecondsAfterFinished": 0},
        "spec.execution.ttlSecondsAfterFinished",
        "should be greater than or equal to 3600",
    ),
    Illegal(
        "pauses that shrink",
        _TABLE,
        {"spec.execution.retry": {"backoffSeconds": 60, "maxBackoffSeconds": 30}},
        "spec.execution.retry",
        "backoffSeconds must not be more than maxBackoffSeconds",
    ),
    _template("the network of the node", {"spec": {"hostNetwork": True}}, ".spec", "hostNetwork"),
    _template("rights of its own", {"spec": {"securityContext": {"runAsUser": 0}}}, ".spec", "securityContext"),
    _template("another account", {"spec": {"serviceAccountName": "admin"}}, ".spec", "serviceAccountName"),
    _template(
        "a folder of the node",
        {"spec": {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}},
        ".spec.volumes[0]",
        "hostPath",
    ),
    _template(
        "a token of the account of runs",
        {"spec": {"volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]}},
        ".spec.volumes[0]",
        "projected",
    ),
    _template(
        "an image of its own",
        {"spec": {"containers": [{"name": "engine", "image": "evil"}]}},
        ".spec.containers[0]",
        "image",
    ),
    _template(
        "a Secret as a whole environment",
        {"spec": {"containers": [{"name": "engine", "envFrom": [{"secretRef": {"name": "a"}}]}]}},
        ".spec.containers[0]",
        "envFrom",
    ),
    Illegal(
        "a pod template with another container",
        _TABLE,
        {f"{_POD}.driver": {"spec": {"containers": [{"name": "shell"}]}}},
        _POD,
        'supported values: "engine"',
    ),
    Illegal(
        "a pod template with two containers",
        _TABLE,
        {f"{_POD}.driver": {"spec": {"containers": [{"name": "engine"}, {"name": "engine"}]}}},
        _POD,
        "Too many: 2: must have at most 1 item",
    ),
    Illegal(
        "a pod template of a third role",
        _TABLE,
        {_POD: {"observer": {}}},
        _POD,
        "expected the keys driver and executor",
    ),
    *(
        Illegal(
            f"a variable {why}",
            _TABLE,
            {f"{_POD}.executor": {"spec": {"containers": [{"name": "engine", "env": [{"name": name, "value": "x"}]}]}}},
            _POD,
            "is set by the operator, loads code or leads elsewhere",
        )
        for why, name in (
            ("that loads code", "LD_PRELOAD"),
            ("of another store", "AWS_ENDPOINT_URL_S3"),
            ("of a proxy", "https_proxy"),
        )
    ),
    Illegal(
        "a label of the operator's",
        _TABLE,
        {f"{_POD}.driver": {"metadata": {"labels": {"hudi-operator.dev/run": "x"}}}},
        _POD,
        "is set by the operator or by Spark",
    ),
    Illegal(
        "more executors at least than at most",
        _TABLE,
        {"spec.execution.executor.dynamicAllocation": {"minInstances": 3, "maxInstances": 2}},
        "spec.execution.executor.dynamicAllocation",
        "minInstances must not be more than maxInstances",
    ),
    _resources("memory in words", {"limits": {"memory": "much"}}, ".limits.memory", _MEMORY),
    _resources("memory in thousandths of a byte", {"limits": {"memory": "512m"}}, ".limits.memory", _MEMORY),
    _resources("no memory", {"limits": {"memory": 0}}, ".limits.memory", _MEMORY),
    _resources("fewer cores than none", {"requests": {"cpu": -1}}, ".requests.cpu", _CORES),
    _resources("half a core without quotes", {"limits": {"cpu": 1.5}}, ".limits.cpu", "must be of type integer"),
    _resources("cores in bytes", {"requests": {"cpu": "2Gi"}}, ".requests.cpu", _CORES),
    _resources(
        "more asked for than allowed",
        {"requests": {"memory": "2Gi"}, "limits": {"memory": "1025Mi"}},
        "",
        "requests must not be more than limits",
    ),
    _resources(
        "more cores asked for than allowed",
        {"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}},
        "",
        "requests must not be more than limits",
    ),
    _resources(
        "a kind that there is not",
        {"limits": {"gpu": 1}},
        ".limits",
        'unknown field "spec.execution.driver.resources.limits.gpu"',
    ),
)

_INDEXES: Final = (
    Illegal("an index of no table", _INDEX, {"spec.tableRef": None}, "spec.tableRef", "Required value"),
    Illegal("an index of a table elsewhere", _INDEX, {"spec.tableRef.name": "../orders"}, "spec.tableRef.name", _NAME),
    Illegal(
        "a table's name that is too long",
        _INDEX,
        {"spec.tableRef.name": "x" * 37},
        "spec.tableRef.name",
        "Too long: may not be more than 36",
    ),
    Illegal(
        "an index that is not built",
        _INDEX,
        {"spec.indexType": "ExpressionIndex"},
        "spec.indexType",
        'Unsupported value: "ExpressionIndex": supported values: ',
    ),
    Illegal(
        "the listing for each partition",
        _INDEX,
        {"spec.indexType": "Files", "spec.partitioned": True},
        "spec",
        "only a RecordIndex can be partitioned",
    ),
    Illegal(
        "the listing to be dropped",
        _INDEX,
        {"spec.indexType": "Files", "spec.deletionPolicy": "Drop"},
        "spec",
        "the index Files cannot be dropped, for all others need it",
    ),
    Illegal(
        "columns of a record index",
        _INDEX,
        {"spec.columns": ["id"]},
        "spec",
        "columns belong to ColumnStats and SecondaryIndex: leave them out",
    ),
    Illegal(
        "no columns of bloom filters, in so many words",
        _INDEX,
        {"spec.indexType": "BloomFilters", "spec.columns": []},
        "spec",
        "columns belong to ColumnStats and SecondaryIndex: leave them out",
    ),
    Illegal("a secondary index of no column", _INDEX, {"spec.indexType": "SecondaryIndex"}, "spec", _ONE_COLUMN),
    Illegal(
        "a secondary index of no column, in so many words",
        _INDEX,
        {"spec.indexType": "SecondaryIndex", "spec.columns": []},
        "spec",
        _ONE_COLUMN,
    ),
    Illegal(
        "a secondary index of two columns",
        _INDEX,
        {"spec.indexType": "SecondaryIndex", "spec.columns": ["customer", "date"]},
        "spec",
        _ONE_COLUMN,
    ),
    _column("that is empty", "", "should be at least 1 chars long"),
    _column("with a comma", "price,date", _COLUMN),
    _column("with a space", "unit price", _COLUMN),
    _column("that begins with a digit", "1st", _COLUMN),
    _column("with nothing behind its dot", "address.", _COLUMN),
    _column("with a newline", "price\n", _COLUMN),
    _column("that is too long", "x" * 256, "Too long: may not be more than 255"),
    Illegal(
        "a rule for duplicate keys of column statistics",
        _INDEX,
        {"spec.indexType": "ColumnStats", "spec.duplicates": "Newest"},
        "spec",
        "duplicates belongs to RecordIndex and SecondaryIndex: leave it out",
    ),
    Illegal(
        "a rule for duplicate keys that there is not",
        _INDEX,
        {"spec.duplicates": "Oldest"},
        "spec.duplicates",
        'Unsupported value: "Oldest"',
    ),
    Illegal(
        "a column twice",
        _INDEX,
        {"spec.indexType": "ColumnStats", "spec.columns": ["price", "price"]},
        "spec.columns[1]",
        "Duplicate value",
    ),
    Illegal(
        "too many columns",
        _INDEX,
        {"spec.indexType": "ColumnStats", "spec.columns": [f"c{number}" for number in range(129)]},
        "spec.columns",
        "Too many: 129: must have at most 128 items",
    ),
    Illegal(
        "a name of its own for a record index",
        _INDEX,
        {"spec.indexName": "keys"},
        "spec",
        "only a SecondaryIndex has a name of its own: leave indexName out",
    ),
    Illegal(
        "an index's name that is none on a table",
        _INDEX,
        {**_BY_CUSTOMER, "spec.indexName": "by-customer"},
        "spec.indexName",
        "must be letters, digits and '_'",
    ),
    Illegal(
        "column stats for each partition",
        _INDEX,
        {"spec.indexType": "ColumnStats", "spec.partitioned": True},
        "spec",
        "only a RecordIndex can be partitioned",
    ),
    Illegal("a token with a shell character", _INDEX, {"spec.rebuildToken": "now!"}, "spec.rebuildToken", _TOKEN),
    Illegal(
        "a token that is too long",
        _INDEX,
        {"spec.rebuildToken": "x" * 64},
        "spec.rebuildToken",
        "Too long: may not be more than 63",
    ),
    Illegal(
        "no time to catch up",
        _INDEX,
        {"spec.catchUp.timeoutSeconds": 0},
        "spec.catchUp.timeoutSeconds",
        "should be greater than or equal to 1",
    ),
)

_SERVICES: Final = (
    Illegal(
        "a service that there is not yet",
        _SERVICE,
        {"spec.type": "Compaction"},
        "spec.type",
        'Unsupported value: "Compaction": supported values: "Validate"',
    ),
    _schedule("of four fields", "* * * *"),
    _schedule("with seconds", "0 30 2 * * *"),
    _schedule("by a nickname", "@daily"),
    _schedule("at a minute that there is not", "60 * * * *"),
    _schedule("in a month that there is not", "0 0 1 13 *"),
    _schedule("without a step", "*/0 * * * *"),
    _schedule("in words", "every day"),
    _schedule("of two lines", "0 2 * * *\n0 3 * * *"),
    _schedule("with a zone", "TZ=Europe/Berlin 0 2 * * *", "must not have a time zone: write it into timeZone"),
    _schedule(
        "with a zone as CronJobs had it", "CRON_TZ=UTC 0 2 * * *", "must not have a time zone: write it into timeZone"
    ),
    Illegal("a zone without a schedule", _SERVICE, {"spec.timeZone": "UTC"}, "spec", "timeZone needs schedule"),
    Illegal(
        "a zone that is a path",
        _SERVICE,
        {"spec.schedule": "0 2 * * *", "spec.timeZone": "../etc/passwd"},
        "spec.timeZone",
        _ZONE,
    ),
    Illegal(
        "the zone of some machine",
        _SERVICE,
        {"spec.schedule": "0 2 * * *", "spec.timeZone": "Local"},
        "spec.timeZone",
        _ZONE,
    ),
    Illegal(
        "a deadline without a schedule",
        _SERVICE,
        {"spec.startingDeadlineSeconds": 60},
        "spec",
        "startingDeadlineSeconds needs schedule",
    ),
    Illegal(
        "two runs at once",
        _SERVICE,
        {"spec.concurrencyPolicy": "Allow"},
        "spec.concurrencyPolicy",
        'Unsupported value: "Allow": supported values: "Forbid", "Replace"',
    ),
    Illegal(
        "an index named twice",
        _SERVICE,
        {"spec.validate.indexes": ["Files", "Files"]},
        "spec.validate.indexes[1]",
        "Duplicate value",
    ),
    Illegal(
        "an index that there is not",
        _SERVICE,
        {"spec.validate.indexes": ["files"]},
        "spec.validate.indexes[0]",
        'Unsupported value: "files"',
    ),
    Illegal(
        "a sample of nothing",
        _SERVICE,
        {"spec.validate.sample": 0},
        "spec.validate.sample",
        "should be greater than or equal to 1",
    ),
    Illegal("a token of two lines", _SERVICE, {"spec.runToken": "a\nb"}, "spec.runToken", _TOKEN),
    Illegal(
        "a history without end",
        _SERVICE,
        {"spec.failedRunsHistoryLimit": 1_000},
        "spec.failedRunsHistoryLimit",
        "should be less than or equal to 10",
    ),
    Illegal(
        "half a run",
        _SERVICE,
        {"spec.failedRunsHistoryLimit": 0.5},
        "spec.failedRunsHistoryLimit",
        "must be of type integer",
    ),
)

_OPTIMISTIC: Final = {"spec.concurrency": {"mode": "Optimistic", "lock": {"zookeeper": ZOOKEEPER}}}
_MOVED: Final = {"spec.concurrency": {"mode": "Optimistic", "lock": {"zookeeper": {**ZOOKEEPER, "lockKey": "other"}}}}
_FILE: Final = {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {}}}}

_CHANGES: Final = (
    Illegal(
        "a table that moves",
        _TABLE,
        {"spec.basePath": "s3a://lake/other"},
        "spec",
        "basePath cannot be changed",
        before={},
    ),
    Illegal("a lock that moves", _TABLE, _MOVED, "spec", _LOCK_MOVES, before=_OPTIMISTIC),
    Illegal("a lock of another kind", _TABLE, _FILE, "spec", _LOCK_MOVES, before=_OPTIMISTIC),
    Illegal("a lock that appears", _TABLE, _OPTIMISTIC, "spec", _LOCK_MOVES, before={}),
    Illegal("a lock that goes", _TABLE, {}, "spec", _LOCK_MOVES, before=_OPTIMISTIC),
    Illegal(
        "a lock that moves as suspension ends",
        _TABLE,
        {**_MOVED, "spec.suspend": False},
        "spec",
        _LOCK_MOVES,
        before={**_OPTIMISTIC, "spec.suspend": True},
    ),
    Illegal("an index of another table", _INDEX, {"spec.tableRef.name": "other"}, "spec.tableRef", _FIXED, before={}),
    Illegal("an index of another type", _INDEX, {"spec.indexType": "Files"}, "spec.indexType", _FIXED, before={}),
    Illegal(
        "an index that becomes partitioned", _INDEX, {"spec.partitioned": True}, "spec.partitioned", _FIXED, before={}
    ),
    Illegal(
        "a secondary index of another column",
        _INDEX,
        {**_BY_CUSTOMER, "spec.columns": ["date"], "spec.rebuildToken": "now"},
        "spec",
        "columns of a SecondaryIndex cannot be changed",
        before=_BY_CUSTOMER,
    ),
    *(
        Illegal(
            f"a secondary index whose name {why}",
            _INDEX,
            {**_BY_CUSTOMER, "spec.indexName": name},
            "spec",
            "indexName cannot be changed, given or taken away",
            before={**_BY_CUSTOMER, "spec.indexName": before},
        )
        for why, before, name in (("changes", "a", "b"), ("appears", None, "b"), ("goes", "a", None))
    ),
    *(
        Illegal(
            f"column stats {why} and no other token",
            _INDEX,
            {**_STATS, "spec.columns": columns, "spec.rebuildToken": token},
            "spec",
            "columns of ColumnStats can be added only",
            before={**_STATS, "spec.columns": before, "spec.rebuildToken": "a"},
        )
        for why, before, columns, token in (
            ("of other columns", ["id"], ["price", "day"], "a"),
            ("of fewer columns", ["id", "price"], ["id"], "a"),
            ("of columns where there were none", None, ["id"], "a"),
            ("of no columns where there were some", ["id"], None, "a"),
            ("of other columns with a token that goes", ["id"], ["price"], None),
        )
    ),
    Illegal("an index that was partitioned", _INDEX, {}, "spec.partitioned", _FIXED, before={"spec.partitioned": True}),
    Illegal(
        "a service of another table", _SERVICE, {"spec.tableRef.name": "other"}, "spec.tableRef", _FIXED, before={}
    ),
)

ILLEGAL: Final = (*_BASE_PATHS, *_CONFS, *_TABLES, *_EXECUTIONS, *_INDEXES, *_SERVICES, *_CHANGES)
