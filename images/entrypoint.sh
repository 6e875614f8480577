#!/bin/bash
# What a container of the engine image starts with. Spark starts the pods of executors with the word `executor` and says
# the rest in variables. Everything else is a command, which is run as it is.
set -euo pipefail

if [ "${1:-}" != executor ]; then
    exec tini -- "$@"
fi

. "$SPARK_HOME/conf/spark-env.sh"
# SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1 and so on, in this order.
mapfile -t options < <(env | grep '^SPARK_JAVA_OPT_' | sort -t_ -k4 -n | sed 's/^[^=]*=//')
classpath="${SPARK_CONF_DIR:-$SPARK_HOME/conf}:${HADOOP_CONF_DIR:+$HADOOP_CONF_DIR:}${SPARK_CLASSPATH:-}:$SPARK_HOME/jars/*"
exec tini -s -- "$JAVA_HOME/bin/java" "${options[@]}" \
    "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
    -cp "$classpath:${SPARK_EXTRA_CLASSPATH:-}" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" \
    --executor-id "$SPARK_EXECUTOR_ID" \
    --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" \
    --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
    --podName "$SPARK_EXECUTOR_POD_NAME"
