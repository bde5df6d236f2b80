#!/bin/bash
# check-symbols.sh FILE|FOLDER...: every plugin exports exactly one symbol, the data object ccm_plugin.
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: $0 FILE|FOLDER..." >&2
    exit 2
fi

files=()
for argument in "$@"; do
    if [ -d "$argument" ]; then
        while IFS= read -r -d '' file; do
            files+=("$file")
        done < <(find "$argument" -maxdepth 1 -name '*.so' -print0 | sort -z)
    else
        files+=("$argument")
    fi
done
if [ ${#files[@]} -eq 0 ]; then
    echo "check-symbols: no plugin in: $*" >&2
    exit 1
fi

bad=0
for file in "${files[@]}"; do
    if ! table=$(nm -D --defined-only --format=posix -- "$file" 2>&1); then
        echo "$file: $table"
        bad=1
        continue
    fi
    # Name and type; the version script is anonymous, so a name has no @VERSION.
    symbols=$(awk '{ print $1 " " $2 }' <<<"$table")
    case $symbols in
    'ccm_plugin R' | 'ccm_plugin D') ;;
    *)
        echo "$file: exports '${symbols//$'\n'/, }' where only the object ccm_plugin is allowed"
        bad=1
        ;;
    esac
done
[ $bad -eq 0 ] && echo "check-symbols: ${#files[@]} plugins, ok"
exit $bad
