#!/bin/bash
# check-selftest.sh: shows that each check of this folder passes good samples and fails on bad ones.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc}
failed=0
cases=0

# expect WHAT STATUS TEXT COMMAND...: the command ends with the status and prints the text.
expect() {
    local what=$1 status=$2 text=$3 output got=0
    shift 3
    cases=$((cases + 1))
    output=$("$@" 2>&1) || got=$?
    if [ $got -ne "$status" ] || [[ $output != *"$text"* ]]; then
        echo "$what: exit $got instead of $status, or without '$text': $output"
        failed=1
    fi
}

# tree: a new small source tree without a fault, in $root.
tree() {
    root=$scratch/tree
    rm -rf "$root"
    mkdir -p "$root"/{include/ccm,core/{util,net,kube/{client,cache,object},sched,plugin,config,admin,daemon,cli},tools/convert,plugins/{clb/tests,template,alicloud,lbc/{model,service,apply}}}
    printf '#include "ccm/error.h"\n#include <stdint.h>\n' >"$root/include/ccm/host.h"
    printf '#include <stdint.h>\n' >"$root/include/ccm/error.h"
    printf '#include "util/buf.h"\n#include "ccm/error.h"\n#include <cjson/cJSON.h>\n' >"$root/core/util/buf.c"
    printf '#include "net/http.h"\n#include "util/buf.h"\n#include <curl/curl.h>\n' >"$root/core/net/http.c"
    printf '#include "net/http.h"\n#include "kube/object/object.h"\n' >"$root/core/kube/client/client.c"
    printf '#include "util/buf.h"\n#include "sched/queue.h"\n' >"$root/core/sched/queue.c"
    printf '#include "util/buf.h"\n#include "plugin/trust.h"\n' >"$root/core/plugin/trust.c"
    printf '#include "kube/cache/store.h"\n#include "plugin/trust.h"\n#include "config/load.h"\n' >"$root/core/daemon/daemon.c"
    printf '#include "util/buf.h"\n' >"$root/core/config/load.h"
    printf '#include "model.h"\n#include "lbc/hash.h"\n#include "alicloud/client.h"\n' >"$root/plugins/clb/plan.c"
    printf '#include "ccm/object.h"\n#include "util/buf.h"\n' >"$root/plugins/clb/model.h"
    printf '#include "support/fake.h"\n#include "clb/model.h"\n' >"$root/plugins/clb/tests/test-plan.c"
    printf '#include <ccm/plugin.h>\n#include <stdlib.h>\n' >"$root/plugins/template/plugin.c"
    printf '#include "alicloud/client.h"\n' >"$root/plugins/alicloud/client.c"
    printf '#include "lbc/hash.h"\n' >"$root/plugins/lbc/hash.c"
    find "$root" -name '*.c' | sed 's/c$/h/' | xargs touch
}

# bad_include FILE INCLUDE TEXT
bad_include() {
    tree
    printf '#include %s\n' "$2" >>"$root/$1"
    expect "layers: $1 with $2" 1 "$3" "$here/check-layers.sh" "$root"
}

tree
expect 'layers: good' 0 'ok' "$here/check-layers.sh" "$root"
mkdir "$scratch/empty"
mkdir -p "$scratch/empty"/{include,core,plugins,tools}
expect 'layers: nothing there' 1 'found no source file' "$here/check-layers.sh" "$scratch/empty"
bad_include core/util/buf.c '"net/http.h"' 'core/util/buf.c:4: may not include net/http.h'
bad_include core/net/http.c '"kube/client.h"' 'may not include kube/client.h'
bad_include core/kube/client/client.c '"sched/queue.h"' 'may not include sched/queue.h'
bad_include core/sched/queue.c '"net/http.h"' 'may not include net/http.h'
bad_include core/plugin/trust.c '"kube/store.h"' 'may not include kube/store.h'
bad_include core/config/load.h '"net/http.h"' 'may not include net/http.h'
bad_include core/util/buf.c '"../net/http.h"' 'no way up'
bad_include core/util/buf.c 'HEADER' 'an include that cannot be read'
bad_include plugins/clb/plan.c '"net/http.h"' 'may not include net/http.h'
bad_include plugins/clb/plan.c '"plugin/trust.h"' 'may not include plugin/trust.h'
bad_include plugins/clb/plan.c '"nlb/model.h"' 'may not include nlb/model.h'
bad_include plugins/clb/plan.c '"not-there.h"' 'may not include not-there.h'
bad_include plugins/clb/plan.c '<curl/curl.h>' 'core/net is the one HTTP engine'
bad_include plugins/clb/plan.c '"support/fake.h"' 'may not include support/fake.h'
bad_include plugins/alicloud/client.c '"clb/model.h"' 'may not include clb/model.h'
bad_include plugins/alicloud/client.c '"lbc/hash.h"' 'may not include lbc/hash.h'
bad_include core/kube/client/client.c '"kube/cache/store.h"' 'may not include kube/cache/store.h'
bad_include core/admin/server.c '"daemon/runner.h"' 'may not include daemon/runner.h'
bad_include tools/convert/read.c '"net/http.h"' 'may not include net/http.h'
bad_include core/daemon/daemon.c '"cli/parse.h"' 'may not include cli/parse.h'
bad_include core/cli/parse.c '"tools/lint.h"' 'may not include tools/lint.h'
bad_include plugins/lbc/model/node.c '"lbc/apply/token.h"' 'may not include lbc/apply/token.h'
bad_include plugins/lbc/model/node.c '"lbc/service/hash.h"' 'may not include lbc/service/hash.h'
bad_include plugins/lbc/model/node.c '"lbc/rules/lint.h"' 'may not include lbc/rules/lint.h'
bad_include plugins/lbc/service/marks.c '"lbc/pass.h"' 'may not include lbc/pass.h'
bad_include plugins/lbc/apply/token.c '"lbc/pass.h"' 'may not include lbc/pass.h'
bad_include plugins/lbc/pass.c '"alicloud/client.h"' 'may not include alicloud/client.h'
bad_include plugins/lbc/hash.c '"nlb/model.h"' 'may not include nlb/model.h'
bad_include plugins/template/plugin.c '"util/buf.h"' 'may not include util/buf.h'
bad_include include/ccm/host.h '<cjson/cJSON.h>' 'the SDK includes standard C headers only'
bad_include include/ccm/host.h '"util/buf.h"' 'may not include util/buf.h'
tree
printf '/* as CLB wants it */\n' >"$root/plugins/lbc/model/weight.c"
expect 'layers: a cloud in the model' 1 'weight.c:1: names a cloud' "$here/check-layers.sh" "$root"
tree
printf '#define KEY "alibabacloud.com/x"\n' >"$root/plugins/lbc/keys.h"
expect 'layers: keys of a cloud' 0 'ok' "$here/check-layers.sh" "$root"
mkdir "$root/plugins/other"
printf '#include "ccm/plugin.h"\n' >"$root/plugins/other/plugin.c"
expect 'layers: unknown folder' 1 'no rule for this folder' "$here/check-layers.sh" "$root"

# bad_style TEXT LINE...: one function with these lines in core/util/bad.c
bad_style() {
    local text=$1
    shift
    tree
    {
        printf 'void bad(void)\n{\n'
        printf '%s\n' "$@"
        printf '}\n'
    } >"$root/core/util/bad.c"
    expect "style: $*" 1 "core/util/bad.c:$text" "$here/check-style.sh" "$root"
}

tree
{
    printf '/* strcpy(a, b); goto */\nstruct s {\n    int (*exit)(void);\n};\n\nint good(void)\n{\n'
    printf '    const char *a = "sprintf(\\"x\\")"; // atoi(a)\n    ccm_strcpy(a);\n    host->exit(); s.system();\n'
    for _ in $(seq 77); do printf '    x++;\n'; done
    printf '}\n/* %s */\n' "$(printf 'ä%.0s' $(seq 94))"
} >"$root/core/util/good.c"
expect 'style: good' 0 'ok' "$here/check-style.sh" "$root"
expect 'style: nothing there' 1 'found no source file' "$here/check-style.sh" "$scratch/empty"
for name in strcpy strcat sprintf strtok atoi strtol sscanf localtime alloca system sleep; do
    bad_style "3: banned function $name" "    x = $name (y);"
done
bad_style '4: banned function strcpy' '    /* a' '    b */ strcpy(a, "/*");'
bad_style '3: goto' '    goto out;'
bad_style '3: cJSON_ArrayForEach does not look at the type: use util/json.h' '    cJSON_ArrayForEach(a, b) {}'
bad_style '3: exit outside of core/main.c' '    exit(1);'
bad_style '3: abort outside of core/main.c' '    abort();'
bad_style '3: typedef of a struct' '    typedef struct x y;'
bad_style '3: a tab' $'\tx++;'
bad_style '3: line of more than 100 columns' "/* $(printf 'x%.0s' $(seq 95)) */"
# shellcheck disable=SC2046 # one line per word
bad_style '2: function of 81 lines' $(for _ in $(seq 81); do echo 'x++;'; done)
# shellcheck disable=SC2046
bad_style '1003: file of 1003 lines' $(for _ in $(seq 500); do echo $'}\n{'; done)
bad_style '3: says that something is left to do' "    /* TO""DO later */"
bad_style '4: static function of one word: run' '}' 'static int run(void)' '{'
tree
printf '#include "util/buf.h"\n' >"$root/core/util/alone.c"
expect 'style: file of no header' 1 'core/util/alone.c:1: a file without a header' "$here/check-style.sh" "$root"
printf '/* What stands alone. */\n#include "util/buf.h"\n' >"$root/core/util/alone.c"
expect 'style: file that says what it is' 0 'ok' "$here/check-style.sh" "$root"
tree
printf 'FIX''ME: write this\n' >"$root/README.md"
expect 'style: note in a text' 1 'README.md:1: says that something is left' "$here/check-style.sh" "$root"
tree
printf '/* The program. */\nint main(void)\n{\n    exit(1);\n}\n' >"$root/core/main.c"
expect 'style: exit in main.c' 0 'ok' "$here/check-style.sh" "$root"

# plugin NAME SOURCE: a shared object in $scratch/plugins
plugin() {
    printf '%s\n' "$2" >"$scratch/source.c"
    "$cc" -shared -fPIC -o "$scratch/plugins/$1" "$scratch/source.c"
}

mkdir "$scratch/plugins"
expect 'symbols: usage' 2 'usage' "$here/check-symbols.sh"
expect 'symbols: empty folder' 1 'no plugin in' "$here/check-symbols.sh" "$scratch/plugins"
plugin good.so 'extern const int ccm_plugin; const int ccm_plugin = 1;'
expect 'symbols: good' 0 '1 plugins, ok' "$here/check-symbols.sh" "$scratch/plugins"
plugin more.so 'const int ccm_plugin = 1; int helper(void) { return 1; }'
expect 'symbols: two' 1 'more.so: exports' "$here/check-symbols.sh" "$scratch/plugins"
rm "$scratch/plugins/more.so"
plugin none.so 'static int x; int *ccm_plugins(void) { return &x; }'
expect 'symbols: another' 1 'none.so: exports' "$here/check-symbols.sh" "$scratch/plugins"
rm "$scratch/plugins/none.so"
plugin function.so 'int ccm_plugin(void) { return 1; }'
expect 'symbols: function' 1 'function.so: exports' "$here/check-symbols.sh" "$scratch/plugins"
rm "$scratch/plugins/function.so"
printf 'text' >"$scratch/plugins/text.so"
expect 'symbols: no ELF file' 1 'text.so' "$here/check-symbols.sh" "$scratch/plugins"

# object FOLDER NAME SOURCE: an object of the library FOLDER of a build, with its source.
object() {
    mkdir -p "$root/$1" "$root/build/$1/CMakeFiles/lib.dir"
    printf '%s\n' "$3" >"$root/$1/$2.c"
    "$cc" -c -o "$root/build/$1/CMakeFiles/lib.dir/$2.c.o" "$root/$1/$2.c"
}
archives() {
    expect "archives: $1" "$2" "$3" "$here/check-archives.py" "$root/build" "$root"
}

root=$scratch/archives
mkdir -p "$root/build"
expect 'archives: usage' 1 'usage' "$here/check-archives.py"
archives 'nothing there' 1 'found no library'
object core/one top 'int left(void); int right(void); int top(void) { return left() + right(); }'
object core/one left 'int base(void); int left(void) { return base(); }'
object core/one right 'int base(void); static int same(void) { return 1; } int right(void) { return base() + same(); }'
object core/one base 'static int same(void) { return 2; } int base(void) { return same(); }'
object plugins/two other 'int other(void) { return 0; }'
ar rc "$root/build/libone.a" "$root"/build/core/one/CMakeFiles/lib.dir/*.o
ar rc "$root/build/libtwo.a" "$root"/build/plugins/two/CMakeFiles/lib.dir/*.o
archives 'good' 0 '2 libraries, ok'
object core/one base 'int top(void); int base(void) { return top(); }'
archives 'circle' 1 'lib: circle of base.c, left.c, right.c, top.c'
rm "$root/core/one/base.c"
archives 'object without a source' 0 'ok'
object plugins/two other 'int top = 1;'
ar rc "$root/build/libtwo.a" "$root"/build/plugins/two/CMakeFiles/lib.dir/*.o
archives 'name in two archives' 1 'top: defined in libone.a and libtwo.a'

root=$scratch/where
mkdir -p "$root"/{docs,core}
printf 'static int top_run(void)\n{\n    return other_run();\n}\n\nstatic const char *const top_names[] = { 0 };\n' >"$root/core/top.c"
echo '`top.c` runs' >"$root/core/README.md"
for _ in $(seq 40); do echo '| what? | `core/top.c:top_run`, `core/top.c:top_names` |'; done >"$root/docs/where.md"
expect 'where: good' 0 '40 questions, ok' "$here/check-where.py" "$root"
echo '| what? | `core/gone.c:top_run` |' >>"$root/docs/where.md"
expect 'where: no file' 1 'docs/where.md:41: core/gone.c is not there' "$here/check-where.py" "$root"
echo '| what? | `core/top.c:other_run` |' >>"$root/docs/where.md"
expect 'where: no function' 1 'docs/where.md:42: core/top.c has no other_run' "$here/check-where.py" "$root"
echo '| what? | `core/top.c:top_run` |' >"$root/docs/where.md"
expect 'where: few' 1 '1 questions, at least 40' "$here/check-where.py" "$root"
printf '| `top.c`, `gone.c` | runs |\n' >"$root/core/README.md"
touch "$root/core/new.c"
expect 'where: no file of a README' 1 'core/README.md:1: gone.c is not there' "$here/check-where.py" "$root"
expect 'where: file in no README' 1 'core/new.c is in no README' "$here/check-where.py" "$root"

# engine: a new engine of two headers, 0.1, as its last release was; in $root.
engine() {
    root=$scratch/engine
    rm -rf "$root"
    mkdir -p "$root"/{plugins/lbc,core/util}
    printf 'set(lbc_headers\n  lbc/version.h lbc/one.h)\n' >"$root/plugins/lbc/sdk.cmake"
    printf '#define LBC_VERSION_MAJOR 0U\n#define LBC_VERSION_MINOR 1U\n' >"$root/plugins/lbc/version.h"
    printf '#include "util/two.h"\nint lbc_one(int a); /* says */\n' >"$root/plugins/lbc/one.h"
    printf '#define TWO "/*2*/"\n' >"$root/core/util/two.h"
    printf '0.0 none\n' >"$root/plugins/lbc/released.txt"
    "$here/check-engine.py" --record "$root"
}
engine
expect 'engine: good' 0 '0.1, last release 0.1, ok' "$here/check-engine.py" "$root"
printf '#include "util/two.h"\n\n/* more */\nint  lbc_one(int a);\n' >"$root/plugins/lbc/one.h"
expect 'engine: other words' 0 'ok' "$here/check-engine.py" "$root"
echo '#define TWO "/*3*/"' >"$root/core/util/two.h"
expect 'engine: forgotten' 1 'count up LBC_VERSION_MINOR' "$here/check-engine.py" "$root"
expect 'engine: not recorded' 1 'count up LBC_VERSION_MINOR' "$here/check-engine.py" --record "$root"
sed -i 's/MINOR 1U/MINOR 2U/' "$root/plugins/lbc/version.h"
expect 'engine: counted' 0 '0.2, last release 0.1, ok' "$here/check-engine.py" "$root"

# size: a tree of one small file, with the headers that the gauge names; budgets as it is.
size() {
    root=$scratch/size
    rm -rf "$root"
    mkdir -p "$root"/{scripts,docs,include/ccm,core/util,plugins/lbc/{model,apply}}
    printf 'struct lbc_entry {\n    int a, b;\n    struct {\n        void (*c)(int x, int y);\n        char d[3];\n    };\n};\n' >"$root/plugins/lbc/mirror.h"
    printf '#include "util/map.h"\nstruct lbc_pass {\n    int a;\n};\n' >"$root/plugins/lbc/pass.h"
    printf '#include "ccm/host.h"\n' >"$root/core/util/map.h"
    printf 'struct ccm_host {\n    int a;\n};\n' >"$root/include/ccm/host.h"
    printf 'struct ccm_plugin {\n    int a;\n};\n' >"$root/include/ccm/plugin.h"
    local name
    for name in controller.h:product controller.h:read_ops controller.h:change_ops controller.h:status_ops \
        inventory.h:inventory_ops model/cloud.h:cloud_ops apply/state.h:state_type apply/model.h:model_ops \
        apply/plan.h:plan_ops apply/executor.h:apply_ops; do
        printf 'struct lbc_%s {\n    int a;\n};\n' "${name#*:}" >>"$root/plugins/lbc/${name%:*}"
    done
    printf '/* one\n * two */\n\nstatic const char *const code = "/*"; // three\n' >"$root/core/util/one.c"
    printf '| `a.b` | text |\n| `a.b` | text |\n' >"$root/docs/configuration.md"
    printf '# Budgets.\n' >"$root/scripts/budgets.txt"
    "$here/check-size.py" --write "$root" >/dev/null
}
size
expect 'size: good' 0 'ok' "$here/check-size.py" "$root"
for row in 'lines core/util 100' 'members lbc_entry 4' 'members product 10' 'options 1' 'map-and-mutex 0' \
    'headers plugins/lbc/pass.h 2'; do
    expect "size: $row" 0 "$row" cat "$root/scripts/budgets.txt"
done
printf 'pthread_mutex_t lock;\nstruct ccm_strmap map;\n' >>"$root/core/util/one.c"
expect 'size: a map and a mutex more' 1 'map-and-mutex is 1, 1 above its budget of 0' "$here/check-size.py" "$root"
size
for _ in $(seq 100); do echo 'x++;'; done >>"$root/core/util/one.c"
expect 'size: too many lines' 1 'lines core/util is 102, 2 above its budget of 100' "$here/check-size.py" "$root"
size
sed -i 's/a, b/a/' "$root/plugins/lbc/mirror.h"
expect 'size: budget that did not follow' 1 'members lbc_entry is 3, well below its budget of 4' "$here/check-size.py" "$root"
size
echo 'files core/gone 30' >>"$root/scripts/budgets.txt"
expect 'size: a row too many' 1 'files core/gone is not there any more' "$here/check-size.py" "$root"
sed -i '/^options/d' "$root/scripts/budgets.txt"
expect 'size: a row too few' 1 'options is 1 and has no budget' "$here/check-size.py" "$root"

# words: a tree with a page, a source and a glossary of enough phrases.
words() {
    tree
    mkdir -p "$root/docs" "$root/scripts"
    {
        printf '## Retired words\n| retired | say |\n|---|---|\n| `serves nobody`, `told`, `let go` | none |\n'
        for n in $(seq 17); do printf '| `phrase %s` | none |\n' "$n"; done
        printf '## Retired for readers\n| `a pass` | reconcile |\n## More\n| `other` | none |\n'
    } >"$root/docs/glossary.md"
    printf '# Plain\nHold on. `told`\n```\ntold\n```\n' >"$root/README.md"
    printf '/* A pass. */\nint told(void)\n{\n    return "re-told"[0];\n}\n' >"$root/core/util/one.c"
    : >"$root/scripts/words.txt"
}
# bad_words FILE TEXT LINE...: the lines are added to the file.
bad_words() {
    local file=$1 text=$2
    shift 2
    words
    printf '%s\n' "$@" >>"$root/$file"
    expect "words: $*" 1 "$text" "$here/check-words.py" "$root"
}
words
expect 'words: good' 0 '0 retired words left' "$here/check-words.py" "$root"
bad_words README.md 'README.md has 1 retired words, at most 0: see docs/glossary.md for what to say (README.md:6: Told)' 'Told again.'
bad_words README.md 'README.md:6: serves nobody' 'It serves' 'nobody.'
bad_words README.md 'README.md:6: a pass' 'In a pass.'
bad_words README.md 'README.md has 2008 words, at most 700' "$(printf 'x %.0s' $(seq 2000))"
bad_words docs/one.md 'docs/one.md:1: Let go' 'Let go.'
bad_words core/util/one.c 'core/util has 1 retired words, at most 0: see docs/glossary.md for what to say (core/util/one.c:6: serves nobody)' \
    '/* It serves' ' * nobody. */'
bad_words core/util/one.c 'core/util/one.c:6: serves nobody' 'x = "it serves "' '    "nobody";'
bad_words core/util/one.c 'core/util/one.c:6: a pass' 'x = "in a pass";'
bad_words plugins/clb/tests/test-plan.c 'tests has 1 retired words' '// told'
words
printf 'told told\n' >>"$root/README.md"
rm "$root/scripts/words.txt"
expect 'words: the first numbers' 0 '2 retired words left in 1' "$here/check-words.py" --write "$root"
expect 'words: the numbers' 0 'README.md 2' cat "$root/scripts/words.txt"
printf 'told\n' >>"$root/README.md"
expect 'words: no number rises' 1 'README.md has 3 retired words, at most 2' "$here/check-words.py" --write "$root"
words
echo 'README.md 1' >"$root/scripts/words.txt"
expect 'words: a number that is too large' 1 'README.md has 0 retired words, well below its number of 1' "$here/check-words.py" "$root"
expect 'words: a number that falls' 0 'ok' "$here/check-words.py" --write "$root"
rm "$root/docs/glossary.md"
: >"$root/docs/glossary.md"
expect 'words: no glossary' 1 'has no tables of retired words' "$here/check-words.py" "$root"

# system: copies of what there is, then one fault each. Faults of a tool that is missing cannot be found. One script of ours is enough:
# lint-system looks at all of them.
system() {
    root=$scratch/system
    rm -rf "$root"
    mkdir -p "$root"/{.ci,scripts}
    cp "$here/check-symbols.sh" "$root/scripts/"
    cp -r "$here/../etc" "$root/etc"
    cp "$here/../.ci/run" "$root/.ci/run"
}
system
expect 'system: good' 0 'ok' "$here/check-system.sh" "$root"
if command -v shellcheck >/dev/null; then
    system
    printf 'local x\n' >>"$root/etc/debian/postinst"
    expect 'system: script' 1 'postinst' "$here/check-system.sh" "$root"
fi
if command -v mandoc >/dev/null; then
    system
    printf '.Nonsense\n' >>"$root/etc/man/ccmd.8"
    expect 'system: page' 1 'unknown macro' "$here/check-system.sh" "$root"
fi
if command -v systemd-analyze >/dev/null; then
    system
    sed -i 's/^Restart=on-failure/Restart=perhaps/' "$root/etc/systemd/ccmd.service"
    expect 'system: unit' 1 'systemd-analyze verify' "$here/check-system.sh" "$root"
    system
    sed -i '/^Protect\|^Private\|^Restrict\|^DynamicUser/d' "$root/etc/systemd/ccmd.service"
    expect 'system: exposed unit' 1 'rates it above' "$here/check-system.sh" "$root"
fi

# check.sh with stubs instead of the tools; that of $FAILING ends with 1, as a tool that has found something does.
root=$scratch/check
mkdir -p "$root"/{scripts,bin,build/coverage,build/fuzz/fuzz}
cp "$here/check.sh" "$root/scripts/"
for stub in scripts/check-system.sh build/fuzz/fuzz/fuzz-{first,last} bin/{cmake,ctest,git,clang-tidy,cppcheck,python3,gcovr}; do
    printf '#!/bin/sh\n%s\n[ "$FAILING" != "${0##*/}" ]\n' 'echo core/a.c; echo stat::number_of_executed_units: 2' >"$root/$stub"
    chmod +x "$root/$stub"
done

# check_step STEP TOOL...: all that the step needs.
check_step() {
    local step=$1 tool
    shift
    for tool in '' "$@"; do
        expect "check: $step, finding of '$tool'" "$([ -z "$tool" ] && echo 0 || echo 1)" ": $([ -z "$tool" ] && echo ok || echo FAILED)" \
            env FAILING="$tool" PYTHON="$root/bin/python3" PATH="$root/bin:$PATH" "$root/scripts/check.sh" "$step"
    done
}
check_step system check-system.sh
check_step clang cmake
check_step tidy cmake git clang-tidy
check_step cppcheck cppcheck
check_step asan cmake ctest
check_step tsan cmake ctest
check_step valgrind cmake python3
check_step fuzz cmake fuzz-first fuzz-last
check_step coverage cmake ctest gcovr
expect 'check: unknown step' 2 "unknown step 'x'" "$root/scripts/check.sh" x

[ $failed -eq 0 ] && echo "check-selftest: $cases cases, ok"
exit $failed
