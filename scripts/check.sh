#!/usr/bin/env bash
# Everything that takes longer than `make test`: both compilers, the whole suite under the sanitizers, valgrind,
# static analysis, fuzzing, coverage. Each step prints one line, with its time; the first failure ends it.
#
#   scripts/check.sh [STEP...]     steps: system clang tidy cppcheck asan tsan valgrind fuzz coverage (default: all)
#   CCM_FUZZ_SECONDS=N             of each fuzz target; default 60
#
# scripts/check-selftest.sh shows that each step fails when one of its tools does.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022 # as in the Makefile
jobs=$(nproc)
python=${PYTHON:-/usr/bin/python3} # the one that has the packaged pytest
valgrind_tests=(
    test_lifecycle.py
    'test_takeover.py::test_deletion[nlb_plain]'
    test_route.py::test_steady_periods
    test_reload.py::test_options_of_a_plugin
    test_leader.py::test_the_lease_of_one
    'test_kube_faults.py::test_watches_that_break_all_the_time[garbage]'
)
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(system clang tidy cppcheck asan tsan valgrind fuzz coverage)

# In a shell of its own: within the condition of an `if` errexit is off, and a step would be worth what its last command is.
run() { # title, command...
    local title=$1 log result summary started=$SECONDS
    shift
    log=$(mktemp)
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1
    result=$?
    set -e
    summary=$(grep -oE '100% tests passed|^[0-9]+ passed|^lines: [0-9.]+%|[0-9]+ inputs tried|ok, without .*' "$log" | tail -1 || true)
    if [ $result -ne 0 ]; then
        cat "$log"
    fi
    rm -f "$log"
    echo "check: $title: $([ $result -eq 0 ] && echo ok || echo FAILED)${summary:+ ($summary)}, $((SECONDS - started)) s"
    [ $result -eq 0 ]
}

build() { cmake --preset "$1" && cmake --build "build/$1" -j "$jobs"; }

suite() {
    build "$1"
    ctest --test-dir "build/$1" --output-on-failure --no-tests=error -j "$jobs" -LE lint
}

tidy() {
    build clang
    git ls-files 'core/*.c' 'plugins/*.c' 'tools/*.c' 'tests/sim/*.c' | grep -v /tests/ |
        xargs -P "$jobs" -n 8 clang-tidy -p build/clang --quiet
}

cppcheck_all() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppress=memleak --suppress=missingInclude --suppress=unknownMacro --suppress=varFuncNullUB \
        -I core -I include -I plugins -I . -j "$jobs" core plugins tools tests/sim
}

# Nothing lost and nothing read that is not ours, in the paths that a day brings: Services of both kinds, routes, a changed
# configuration, the Lease, broken watches. ccmd ends with 99 when valgrind has found something, and the test fails.
leaks() {
    build debug
    CCM_VALGRIND=1 CCM_TEST_SLOW=10 CCM_BUILD_DIR=build/debug PYTHONDONTWRITEBYTECODE=1 \
        "$python" -m pytest -q -p no:cacheprovider "${valgrind_tests[@]/#/tests/integration/}"
}

# Each target for a while, from its corpus on; what it finds anew stays in build/fuzz/found.
fuzz() {
    local target name tried=0 seconds=${CCM_FUZZ_SECONDS:-60}

    cmake --preset fuzz
    cmake --build build/fuzz -j "$jobs" --target fuzz-targets
    for target in build/fuzz/fuzz/fuzz-*; do
        name=${target##*/fuzz-}
        mkdir -p "build/fuzz/found/$name"
        LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
            -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/found/$name" \
            "tests/fuzz/corpus/$name" 2>&1 | tee "build/fuzz/found/$name.log"
        tried=$((tried + $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/found/$name.log")))
    done
    echo "$tried inputs tried"
}

# Lines of core, plugins and tools that the suite runs; the floor is what it was, less a little. Left out: tests of the simulators
# alone, tests that build a tree of their own, and the one that compares what all tests together have called.
coverage() {
    local without='integration-(cloudsim|kubesim|kubectl|install|docs|plugin-guide|ram-policies)|interop|abi-sdk'

    cmake --preset coverage
    cmake --build build/coverage -j "$jobs"
    find build/coverage -name '*.gcda' -delete
    ctest --test-dir build/coverage --output-on-failure --no-tests=error -j "$jobs" -LE lint -E "$without"
    gcovr --root . --object-directory build/coverage --filter 'core/' --filter 'plugins/' --filter 'tools/' --exclude '.*/tests/.*' \
        --gcov-ignore-parse-errors -j "$jobs" --print-summary --fail-under-line 93 >build/coverage/report.txt
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
    valgrind) run "valgrind: no leak, no wrong read" leaks ;;
    fuzz) run "fuzzing" fuzz ;;
    coverage) run "coverage" coverage ;;
    *)
        echo "check: unknown step '$step'" >&2
        exit 2
        ;;
    esac
done
