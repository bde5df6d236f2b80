#!/usr/bin/env bash
# Everything that takes longer than `make test`: both compilers, the whole suite under the sanitizers, valgrind,
# static analysis. Each step prints one line; the first failure ends it.
#
#   scripts/check.sh [STEP...]     steps: clang tidy cppcheck asan tsan valgrind (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(clang tidy cppcheck asan tsan valgrind)

run() { # title, command...
    local title=$1 log
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        echo "check: $title: ok$(grep -oE '[0-9]+ tests? (passed|failed).*|100% tests passed.*' "$log" | tail -1 | sed 's/^/ (/; s/$/)/')"
    else
        cat "$log"
        echo "check: $title: FAILED"
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

build() { cmake --preset "$1" && cmake --build "build/$1" -j "$jobs"; }

suite() { build "$1" && ctest --test-dir "build/$1" --output-on-failure -j "$jobs" -LE lint; }

tidy() {
    build clang
    git ls-files 'core/*.c' 'plugins/*.c' 'tests/sim/*.c' | grep -v /tests/ |
        xargs -P "$jobs" -n 8 clang-tidy -p build/clang --quiet
}

cppcheck_all() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppress=memleak --suppress=missingInclude --suppress=unknownMacro --suppress=varFuncNullUB \
        -I core -I include -I plugins -j "$jobs" core plugins tests/sim
}

leaks() { build debug && CCM_VALGRIND=1 ctest --test-dir build/debug --output-on-failure -R integration-lifecycle; }

for step in "${steps[@]}"; do
    case $step in
    clang) run "clang build, warnings as errors" build clang ;;
    tidy) run "clang-tidy" tidy ;;
    cppcheck) run "cppcheck" cppcheck_all ;;
    asan) run "suite under ASan+UBSan" suite asan ;;
    tsan) run "suite under TSan" suite tsan ;;
    valgrind) run "valgrind: no leak at shutdown" leaks ;;
    *)
        echo "check: unknown step '$step'" >&2
        exit 2
        ;;
    esac
done
