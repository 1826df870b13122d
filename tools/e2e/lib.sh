# What the end-to-end scripts share: where things are, ports, processes. Sourced, not run.
#
#   E2E_HOME   what is built once: programs, their wrapper modules        (default: karpenter-e2e in the user's cache)
#   E2E_RUN    one running cluster: certificates, data, logs, process ids (default: $E2E_HOME/run)
#   E2E_APISERVER_FLAGS   more flags for kube-apiserver, separated by spaces

E2E_HOME=${E2E_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karpenter-e2e}
E2E_RUN=${E2E_RUN:-$E2E_HOME/run}
BIN=$E2E_HOME/bin

K8S_VERSION=1.36.3
KWOK_VERSION=v0.7.0
HELM_VERSION=v3.18.6

# tools/setup puts a Go here when the system has none that is new enough.
if [ -x "$E2E_HOME/go/bin/go" ]; then
    PATH=$E2E_HOME/go/bin:$PATH
fi
export GOTOOLCHAIN=auto

# free_ports N: that many different ports, all held until all are chosen.
free_ports() {
    python3 -c 'import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])' "$1"
}

# start NAME COMMAND...: in the background, with a log and a pid file.
start() {
    local name=$1
    shift
    "$@" >"$E2E_RUN/log/$name.log" 2>&1 </dev/null &
    echo $! >"$E2E_RUN/$name.pid"
}

# stop NAME: by its pid file, never by name of the program.
stop() {
    local file=$E2E_RUN/$1.pid pid
    [ -s "$file" ] || return 0
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
    done
    kill -9 "$pid" 2>/dev/null || true
    rm -f "$file"
}

# await SECONDS WHAT COMMAND...: until the command succeeds.
await() {
    local left=$(($1 * 10)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        if [ $left -le 0 ]; then
            echo "e2e: $what did not come up; logs are in $E2E_RUN/log" >&2
            return 1
        fi
        sleep 0.1
    done
}

kubectl() { "$BIN/kubectl" --kubeconfig "$E2E_RUN/admin.kubeconfig" "$@"; }
