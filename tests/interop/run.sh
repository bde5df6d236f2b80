#!/usr/bin/env bash
# The official SDK clients, with each of their signatures, against a cloudsim of its own.
#
#   tests/interop/run.sh BUILD_DIR
#
# Exit code 77: skipped, because node or the packages cannot be had here (the reason is printed).
set -euo pipefail

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$build/interop
export npm_config_cache=$work/npm-cache npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false

skip() {
    echo "SKIPPED: $1"
    exit 77
}

command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed (scripts/bootstrap.sh test installs them)"

# Beside the scripts' own copies, so that the source tree stays clean; the tables are looked up beside them.
mkdir -p "$work/interop" "$work/sim/cloud"
cp "$here"/*.mjs "$here/package.json" "$work/interop/"
cp -r "$here/../sim/cloud/data" "$work/sim/cloud/"
cd "$work/interop"
if [ ! -e node_modules/.ccmd-installed ] || ! cmp -s package.json node_modules/.ccmd-installed; then
    if ! npm install --ignore-scripts --no-package-lock >"$work/npm.log" 2>&1; then
        tail -n 5 "$work/npm.log"
        if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT' "$work/npm.log"; then
            skip "npm reaches no registry"
        fi
        exit 1
    fi
    cp package.json node_modules/.ccmd-installed
fi

"$build/bin/cloudsim" --listen 127.0.0.1:0 --job-ms 50 --route-ms 50 >"$work/cloudsim.out" 2>"$work/cloudsim.err" &
sim=$!
trap 'kill "$sim" 2>/dev/null || true; wait "$sim" || true' EXIT
for _ in $(seq 500); do
    grep -q '^listening on ' "$work/cloudsim.out" && break
    kill -0 "$sim" || { cat "$work/cloudsim.err"; exit 1; }
    read -rt 0.02 <> <(:) || true
done
address=$(sed -n 's/^listening on //p' "$work/cloudsim.out")
[ -n "$address" ] || { echo "cloudsim does not listen"; exit 1; }

for signer in v3 v1 pop; do
    echo "--- signer $signer"
    node smoke.mjs "http://$address" --signer "$signer" | tee "$work/$signer.log"
    grep -qx '60 passed, 0 failed' "$work/$signer.log"
done
