#!/usr/bin/env bash
# docs.sh write|check DOCS-GEN [PLUGIN...]: the pages of docs/ that are generated, written anew or compared.
set -euo pipefail
mode=$1
generator=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

for page in annotations configuration troubleshooting; do
    plugins=()
    [[ $page == configuration ]] && plugins=("$@")
    "$generator" "$page" "$root/docs/gen/$page.head.md" "${plugins[@]}" >"$scratch/$page.md"
    if [[ $mode == write ]]; then
        cp "$scratch/$page.md" "$root/docs/$page.md"
    elif ! diff -u "$root/docs/$page.md" "$scratch/$page.md"; then
        echo "docs/$page.md is stale: run make docs"
        bad=1
    fi
done
exit $bad
