# Sourced by those that make packages, images and releases: which source this is, for which machine, and how a long step is shown.
# Sets root, version, revision and SOURCE_DATE_EPOCH: whatever is made of the same source bears the same time.
# shellcheck shell=bash disable=SC2034  # variables are for those that source it
umask 022
export LC_ALL=C.UTF-8 TZ=UTC

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(cat "$root/VERSION")

# A checkout asks git; in a tarball of `git archive` the answer has been written into a file.
read -r revision source_time <"$root/scripts/source.txt"
case $revision in
'$Format:%H')
    revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || true)
    source_time=$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/VERSION")
    [ -z "$revision" ] || git -C "$root" diff --quiet HEAD -- 2>/dev/null || revision=$revision-dirty
    ;;
esac
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$source_time}

native=$(dpkg --print-architecture)
debian_release=bookworm

# triple_of ARCHITECTURE: what compilers and folders of libraries call it.
triple_of() {
    case $1 in
    amd64) echo x86_64-linux-gnu ;;
    arm64) echo aarch64-linux-gnu ;;
    *)
        echo "ARCH=$1 is none of amd64, arm64" >&2
        return 2
        ;;
    esac
}

# Where Debian packages come from: what this machine uses, or CCM_MIRROR.
mirrors=("${CCM_MIRROR:-}")
if [ -z "${CCM_MIRROR:-}" ]; then
    mirrors=(/etc/apt/sources.list.d/debian.sources)
    [ -e "${mirrors[0]}" ] || mirrors=(/etc/apt/sources.list)
fi

# The last line of what comes in, over the one before it.
show_progress() { # TITLE
    local line columns
    columns=$(tput cols 2>/dev/null || echo 80)
    while IFS= read -r line; do
        printf '\r\033[K%.*s' "$((columns - 1))" "$1: $line" >&2
    done
    printf '\r\033[K' >&2
}

# run_step TITLE LOG COMMAND...: its output goes to LOG, and on a terminal also to where one looks; the end of LOG when it fails.
run_step() {
    local title=$1 log=$2 started=$SECONDS result
    shift 2
    mkdir -p "$(dirname "$log")"
    set +e # what failed is looked at below; within COMMAND the first failure ends it
    if [ -t 2 ]; then
        printf '%s ...' "$title" >&2
        (
            set -e
            "$@"
        ) 2>&1 | tee "$log" | show_progress "$title"
        result=${PIPESTATUS[0]}
    else
        (
            set -e
            "$@"
        ) >"$log" 2>&1
        result=$?
    fi
    set -e
    if [ "$result" -ne 0 ]; then
        tail -50 "$log" >&2
        echo "$title: failed; all of it is in $log" >&2
        return "$result"
    fi
    [ ! -t 2 ] || echo "$title: done in $((SECONDS - started)) s" >&2
}
