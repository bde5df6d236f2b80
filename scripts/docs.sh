#!/usr/bin/env bash
# docs.sh write|check DOCS-GEN [PLUGIN...]: what is generated of docs/, etc/man, etc/completion, and what monitoring.py makes, written anew
# or compared.
set -euo pipefail
mode=$1
generator=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# take FILE: standard input is what belongs there.
take() {
    cat >"$scratch/page"
    if [[ $mode == write ]]; then
        cp "$scratch/page" "$root/$1"
    elif ! diff -u "$root/$1" "$scratch/page"; then
        echo "$1 is stale: run make docs"
        bad=1
    fi
}

"$generator" annotations "$root/docs/gen/annotations.head.md" >"$scratch/annotations"
"$generator" configuration "$root/docs/gen/configuration.head.md" "$@" >"$scratch/configuration"
"$generator" troubleshooting "$root/docs/gen/troubleshooting.head.md" >"$scratch/troubleshooting"
for page in annotations configuration troubleshooting; do
    take "docs/$page.md" <"$scratch/$page"
done
for page in ccmd.8 ccmd.conf.5; do
    "$generator" manual "$root/docs/gen/$page.in" "$@" >"$scratch/$page"
    take "etc/man/$page" <"$scratch/$page"
done
for shell in bash zsh fish; do
    "$generator" completion "$shell" >"$scratch/$shell"
    take "etc/completion/ccmd.$shell" <"$scratch/$shell"
done
# After configuration.md, which it reads.
"$root/scripts/monitoring.py" "$mode" || bad=1
exit $bad
