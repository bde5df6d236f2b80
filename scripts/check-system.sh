#!/bin/bash
# check-system.sh [ROOT]: what meets the system it is installed on: shell scripts (shellcheck), manual pages (mandoc), the
# systemd unit (systemd-analyze). A tool that is not installed is left out and named.
set -euo pipefail

root=${1:-$(dirname "$0")/..}
cd "$root"
missing=
bad=0

# step TOOL COMMAND...: runs it when the tool is there.
step() {
    if command -v "$1" >/dev/null; then
        shift
        "$@" || bad=1
    else
        missing+=" $1"
    fi
}

scripts() {
    shellcheck -x --severity=warning scripts/*.sh .ci/run etc/debian/p{ostinst,rerm,ostrm} etc/completion/ccmd.bash
}

# Pages refer to one another before they are installed; that alone is no finding.
pages() {
    local found
    found=$(mandoc -T lint -W warning etc/man/* | grep -v 'referenced manual not found' || true)
    [ -z "$found" ] || echo "$found"
    [ -z "$found" ]
}

# The unit with a program that exists here, and no more exposed than systemd calls "OK" (10 is a service without any limits).
unit() {
    local scratch found result=0
    scratch=$(mktemp -d)
    sed 's|/usr/bin/ccmd|/bin/true|' etc/systemd/ccmd.service >"$scratch/ccmd.service"
    found=$(systemd-analyze verify --man=no "$scratch/ccmd.service" 2>&1 || echo refused)
    if [ -n "$found" ]; then
        echo "etc/systemd/ccmd.service: systemd-analyze verify: $found"
        result=1
    fi
    if ! systemd-analyze security --offline=true --threshold=20 --no-pager "$scratch/ccmd.service" >"$scratch/out" 2>&1; then
        grep -v '^✓' "$scratch/out" || true
        echo 'etc/systemd/ccmd.service: systemd-analyze security rates it above 2.0'
        result=1
    fi
    rm -rf "$scratch"
    return $result
}

step shellcheck scripts
step mandoc pages
step systemd-analyze unit
[ $bad -eq 0 ] && echo "check-system: ok${missing:+, without$missing}"
exit $bad
