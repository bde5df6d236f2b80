#!/bin/bash
# check-style.sh [ROOT]: what the compiler and clang-format do not see. Prints FILE:LINE: FINDING, exits 1 if any.
#   functions of more than 80 lines, files of more than 1000, lines of more than 100 columns, tabs
#   banned functions, goto, struct typedefs; exit and abort outside of core/main.c
#   walks over JSON that do not look at its type: ccm_json_elements() and ccm_json_members() do
#   static functions of one word, in core, plugins and tools: file's noun, verb, object
#   .c files of core, plugins and tools without a header of their own whose first line does not say what they are
#   notes that something is left to do
set -euo pipefail

root=${1:-$(dirname "$0")/..}
cd "$root"

sources() {
    find . \( -path ./build -o -path ./.git \) -prune -o -type f -name '*.[ch]' -print0 | sort -z
}
texts() {
    find . \( -path ./build -o -path ./.git \) -prune -o -type f \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' \
        -o -name '*.cmake' -o -name '*.in' -o -name '*.md' -o -name '*.conf' -o -name '*.ya?ml' -o -name '*.txt' \
        -o -name Makefile -o -path './.ci/*' \) -print0 | sort -z
}

count=$(sources | tr -dc '\0' | wc -c)
if [ "$count" -eq 0 ]; then
    echo "check-style: found no source file in $root"
    exit 1
fi

findings=$(
    sources | xargs -0 awk '
    BEGIN {
        split("strcpy strcat strncat sprintf vsprintf strtok strtok_r gets atoi atol atoll atof " \
              "strtol strtoll strtoul strtoull sscanf vsscanf scanf fscanf localtime gmtime ctime " \
              "asctime alloca longjmp pthread_cancel system popen sleep usleep", names, " ")
        for (i in names) {
            banned[names[i]] = "banned function " names[i]
        }
        split("exit _exit _Exit quick_exit abort", names, " ")
        for (i in names) {
            ends[names[i]] = names[i] " outside of core/main.c"
        }
    }

    function tell(line, what) {
        print file ":" line ": " what
    }

    function end_of_file() {
        if (file != "" && lines > 1000) {
            tell(lines, "file of " lines " lines, at most 1000")
        }
    }

    # The line without comments and without what stands in literals.
    function code_of(line,    out, token) {
        out = ""
        while (line != "") {
            if (comment) {
                if (!match(line, /\*\//)) {
                    return out
                }
                line = substr(line, RSTART + 2)
                comment = 0
                continue
            }
            if (!match(line, /"|\047|\/\*|\/\//)) {
                return out line
            }
            token = substr(line, RSTART, RLENGTH)
            out = out substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (token == "/*") {
                comment = 1
            } else if (token == "//") {
                return out
            } else {
                if (token == "\"") {
                    match(line, /^([^"\\]|\\.)*"/)
                } else {
                    match(line, /^([^\047\\]|\\.)*\047/)
                }
                if (RLENGTH < 0) {
                    return out
                }
                out = out token token
                line = substr(line, RLENGTH + 1)
            }
        }
        return out
    }

    # Calls of plain functions; members of structs may have any name.
    function check_calls(code,    name, before) {
        while (match(code, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
            name = substr(code, RSTART, RLENGTH - 1)
            sub(/[ \t]+$/, "", name)
            before = RSTART > 1 ? substr(code, RSTART - 1, 1) : ""
            if (before != "." && before != ">") {
                if (name in banned) {
                    tell(FNR, banned[name])
                }
                if (ours && name == "cJSON_ArrayForEach") {
                    tell(FNR, "cJSON_ArrayForEach does not look at the type: use util/json.h")
                }
                if (may_not_end && name in ends) {
                    tell(FNR, ends[name])
                }
            }
            code = substr(code, RSTART + RLENGTH)
        }
    }

    # Of a definition or declaration that begins with this line: the name, if it is static and has one word.
    function bare_name(line) {
        if (line !~ /^static [^=;(]*[ *][a-z0-9]+\(/) {
            return ""
        }
        sub(/\(.*/, "", line)
        sub(/.*[ *]/, "", line)
        return line
    }

    FNR == 1 {
        end_of_file()
        file = FILENAME
        sub(/^\.\//, "", file)
        comment = 0
        start = 0
        ours = file ~ /^(core|plugins|tools)\// && file !~ /\/tests\//
        may_not_end = ours && file != "core/main.c"
        header = file
        sub(/c$/, "h", header)
        if (ours && file ~ /\.c$/ && $0 !~ /^\/\*/ && (getline line < header) < 0) {
            tell(1, "a file without a header says in its first line what it is")
        }
        close(header)
    }

    {
        lines = FNR
        if (index($0, "\t")) {
            tell(FNR, "a tab")
        }
        code = code_of($0)
        check_calls(code)
        if (code ~ /(^|[^A-Za-z0-9_])goto[ \t]+[A-Za-z_]/) {
            tell(FNR, "goto")
        }
        if (ours && file !~ /^plugins\/template\// && bare_name(code) != "") {
            tell(FNR, "static function of one word: " bare_name(code))
        }
        if (code ~ /(^|[^A-Za-z0-9_])typedef[ \t]+struct/) {
            tell(FNR, "typedef of a struct")
        }
        if ($0 ~ /^\{/) {
            start = FNR
        } else if ($0 ~ /^\}/ && start > 0) {
            if (FNR - start - 1 > 80) {
                tell(start, "function of " (FNR - start - 1) " lines, at most 80")
            }
            start = 0
        }
    }

    END {
        end_of_file()
    }'
    sources | LC_ALL=C.UTF-8 xargs -0 grep -HnE '^.{101,}$' | sed -E 's/^\.\/([^:]*:[0-9]+):.*/\1: line of more than 100 columns/' || true
    # The words are split here, or this file would find itself.
    texts | xargs -0 grep -HnwE "TO""DO|FIX""ME|X""XX" | sed -E 's/^\.\/([^:]*:[0-9]+):.*/\1: says that something is left to do/' || true
)

if [ -n "$findings" ]; then
    echo "$findings"
    exit 1
fi
echo "check-style: $count files, ok"
