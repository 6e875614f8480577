# Inside the namespaces of a node: what it changes of this machine's files and settings is its own. $1 is its folder,
# $2 its address.
set -eu
mount --make-rshared /
# The kubelet insists on these settings of the whole machine, so it gets files to read and write in their place.
mkdir -p "$1/settings"
while read -r name value; do
    echo "$value" > "$1/settings/${name##*/}"
    mount --bind "$1/settings/${name##*/}" "/proc/sys/$name"
done << EOF
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
EOF
mount -t tmpfs tmpfs /run
mkdir /run/netns
for name in lib log; do
    mkdir -p "$1/var/$name" "$1/work/$name"
    mount -t overlay overlay -o "lowerdir=/var/$name,upperdir=$1/var/$name,workdir=$1/work/$name" "/var/$name"
done
ip link add node0 type bridge
ip address add "$2/24" dev node0
ip link set node0 up
ip route add default via "${2%.*}.1" dev node0
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables
