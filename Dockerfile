# Two images: `operator` (no JVM), and `engine` (JVM and Spark; drivers and executors of runs). `make images` builds both.
#
# BASE is any image of a Debian with python3 3.11; the tests bring one of their own. Versions are those of requirements.lock.
ARG BASE=python:3.11-slim-bookworm

# What builds. Nothing of this stage but finished environments gets into an image.
FROM ${BASE} AS build
RUN python3 -c 'import ensurepip' || { apt-get update && apt-get install --yes --no-install-recommends python3-venv; }
WORKDIR /build
COPY requirements.lock pyproject.toml ./
RUN python3 -m venv tools && \
    sed -n '/^uv==/,/[^\\]$/p' requirements.lock > uv.txt && \
    tools/bin/pip install --quiet --no-cache-dir --require-hashes --requirement uv.txt
ENV VIRTUAL_ENV=/opt/hudi-operator UV_NO_CACHE=1 UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy \
    UV_CONSTRAINT=requirements.lock UV_BUILD_CONSTRAINT=requirements.lock
RUN python3 -m venv --without-pip ${VIRTUAL_ENV}

FROM build AS operator-environment
RUN tools/bin/uv pip install --requirement pyproject.toml --extra operator --extra sasl
COPY LICENSE NOTICE README.md ./
COPY engine engine
COPY operator operator
RUN tools/bin/uv pip install --no-deps .

FROM build AS engine-environment
# Another Spark than the lock's comes without the lock's hashes. No jar of Hudi ties the engine to a Spark.
ARG SPARK_VERSION=3.5.8
RUN grep -q "^pyspark==${SPARK_VERSION} " requirements.lock || \
    { sed -i -e '/^pyspark==/,/[^\\]$/d' -e '/^py4j==/,/[^\\]$/d' requirements.lock && \
      echo "pyspark==${SPARK_VERSION}" >> requirements.lock; }
RUN tools/bin/uv pip install --requirement pyproject.toml --extra spark --extra sasl
COPY LICENSE NOTICE README.md ./
COPY engine engine
COPY operator operator
RUN tools/bin/uv pip install --no-deps . && \
    mv ${VIRTUAL_ENV}/lib/python3*/site-packages/pyspark/jars /spark-jars

# What both images share. The user has no password and no home; a random uid of group 0 works as well.
FROM ${BASE} AS runtime
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION} \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.vendor="The hudi-operator authors"
RUN echo 'hudi:x:185:0:hudi-operator:/tmp:/usr/sbin/nologin' >> /etc/passwd && \
    rm -rf /usr/local/bin/pip* /usr/local/lib/python3*/ensurepip \
        /usr/local/lib/python3*/site-packages/pip* /usr/local/lib/python3*/site-packages/setuptools* \
        /usr/local/lib/python3*/site-packages/wheel*
COPY LICENSE NOTICE /licenses/
# The root of a pod is read-only: there is nowhere to keep bytecode, and /tmp is a volume.
ENV PATH=/opt/hudi-operator/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp TZ=UTC
WORKDIR /tmp

FROM runtime AS operator
LABEL org.opencontainers.image.title=hudi-operator \
      org.opencontainers.image.description="Kubernetes operator for indexes and table services of Apache Hudi tables"
COPY --from=operator-environment /opt/hudi-operator /opt/hudi-operator
USER 185:0
ENTRYPOINT ["hudi-operator"]
CMD ["run"]

FROM runtime AS java
ARG JRE=openjdk-17-jre-headless
# A package of the JRE fails without the folder of manual pages, which slim images lack.
RUN mkdir -p /usr/share/man/man1 && apt-get update && \
    apt-get install --yes --no-install-recommends ${JRE} libnss-wrapper tini && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log && \
    ln -s "$(dirname "$(dirname "$(readlink -f /usr/bin/java)")")" /opt/java && \
    ln -s "$(find /usr/lib -name libnss_wrapper.so)" /opt/libnss_wrapper.so
ENV JAVA_HOME=/opt/java

# What Spark lacks to read and write s3a://, as old as the Hadoop in that Spark.
FROM java AS jars
RUN apt-get update && apt-get install --yes --no-install-recommends maven
WORKDIR /build
COPY images/pom.xml ./
COPY --from=engine-environment /spark-jars /spark-jars
RUN hadoop=$(basename /spark-jars/hadoop-client-api-*.jar .jar) && \
    mvn --quiet --batch-mode --strict-checksums -Dhadoop.version="${hadoop#hadoop-client-api-}" \
        org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory=/spark-jars

FROM java AS engine
LABEL org.opencontainers.image.title=hudi-operator-engine \
      org.opencontainers.image.description="Engine for indexes of Apache Hudi tables, in one process or on Spark"
COPY --from=engine-environment /opt/hudi-operator /opt/hudi-operator
COPY --from=jars /spark-jars /opt/spark-jars
COPY images/spark-env.sh images/entrypoint.sh /opt/
RUN ln -s /opt/hudi-operator/lib/python3*/site-packages/pyspark /opt/spark && \
    ln -s /opt/spark-jars /opt/spark/jars && \
    mkdir /opt/spark/conf && ln -s /opt/spark-env.sh /opt/spark/conf/spark-env.sh
ENV SPARK_HOME=/opt/spark PYSPARK_PYTHON=/opt/hudi-operator/bin/python3 \
    PYSPARK_DRIVER_PYTHON=/opt/hudi-operator/bin/python3
USER 185:0
ENTRYPOINT ["/opt/entrypoint.sh"]
CMD ["hudi-engine", "--help"]
