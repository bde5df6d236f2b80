#!/usr/bin/env bash
# Everything that takes longer than `make test`: both compilers, the whole suite under the sanitizers, valgrind,
# static analysis, fuzzing, coverage. Each step prints one line; the first failure ends it.
#
#   scripts/check.sh [STEP...]     steps: system clang tidy cppcheck asan tsan valgrind fuzz coverage (default: all)
#   CCM_FUZZ_SECONDS=N             of each fuzz target; default 60
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(system clang tidy cppcheck asan tsan valgrind fuzz coverage)

run() { # title, command...
    local title=$1 log
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        echo "check: $title: ok$(grep -oE '[0-9]+ tests? (passed|failed).*|100% tests passed.*|^lines: .*' "$log" | tail -1 | sed 's/^/ (/; s/$/)/')"
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

# Each target for a while, from its corpus on; what it finds anew stays in build/fuzz/found.
fuzz() {
    local target name seconds=${CCM_FUZZ_SECONDS:-60}

    cmake --preset fuzz && cmake --build build/fuzz -j "$jobs" --target fuzz-targets
    for target in build/fuzz/fuzz/fuzz-*; do
        name=${target##*/fuzz-}
        mkdir -p "build/fuzz/found/$name"
        LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
            -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/found/$name" \
            "tests/fuzz/corpus/$name"
    done
}

# Lines of core and plugins that the suite runs; the floor is what it was, less a little.
coverage() {
    cmake --preset coverage && cmake --build build/coverage -j "$jobs"
    find build/coverage -name '*.gcda' -delete
    ctest --test-dir build/coverage --output-on-failure -j "$jobs" -LE lint
    gcovr --root . --object-directory build/coverage --filter 'core/' --filter 'plugins/' --exclude '.*/tests/.*' \
        --gcov-ignore-parse-errors --print-summary --fail-under-line 80 >build/coverage/report.txt
    tail -5 build/coverage/report.txt
}

for step in "${steps[@]}"; do
    case $step in
    system) run "shell scripts, manual pages, systemd unit" scripts/check-system.sh ;;
    clang) run "clang build, warnings as errors" build clang ;;
    tidy) run "clang-tidy" tidy ;;
    cppcheck) run "cppcheck" cppcheck_all ;;
    asan) run "suite under ASan+UBSan" suite asan ;;
    tsan) run "suite under TSan" suite tsan ;;
    valgrind) run "valgrind: no leak at shutdown" leaks ;;
    fuzz) run "fuzzing" fuzz ;;
    coverage) run "coverage" coverage ;;
    *)
        echo "check: unknown step '$step'" >&2
        exit 2
        ;;
    esac
done
