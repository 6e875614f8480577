# Spark's scripts read this file before they start a JVM, and so does the entry point before an executor.
#
# Hadoop's login fails for a uid that has no name, and OpenShift gives each namespace a uid of its own. /etc/passwd cannot
# be written on a read-only root, so such a uid gets its name from a copy.
if ! getent passwd "$(id -u)" > /dev/null; then
    NSS_WRAPPER_PASSWD=$(mktemp)
    NSS_WRAPPER_GROUP=/etc/group
    { cat /etc/passwd; echo "hudi-$(id -u):x:$(id -u):$(id -g):hudi-operator:/tmp:/usr/sbin/nologin"; } > "$NSS_WRAPPER_PASSWD"
    export NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP LD_PRELOAD=/opt/libnss_wrapper.so
fi
