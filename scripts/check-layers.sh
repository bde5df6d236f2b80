#!/bin/bash
# check-layers.sh [ROOT]: includes point down only. The table below is the whole rule: which project headers the files
# of a folder may include. Names without a slash are headers beside the file.
set -euo pipefail

root=${1:-$(dirname "$0")/..}
cd "$root"

# First match counts. Left: beginning of the path of a file. Right: beginnings of what it may include.
rules=(
    'include/               ccm/'
    'core/util/             ccm/ util/'
    'core/net/              ccm/ util/ net/'
    'core/kube/object/      ccm/ util/ kube/object/'
    'core/kube/client/      ccm/ util/ net/ kube/object/ kube/client/'
    'core/kube/cache/       ccm/ util/ net/ kube/object/ kube/client/ kube/cache/'
    'core/kube/             ccm/ util/ net/ kube/'
    'core/sched/            ccm/ util/ sched/'
    'core/plugin/           ccm/ util/ plugin/'
    'core/config/           ccm/ util/ config/'
    'core/admin/            ccm/ util/ net/ kube/ config/ admin/'
    'core/daemon/           ccm/ util/ net/ kube/ sched/ plugin/ config/ admin/ daemon/'
    'core/cli/              ccm/ util/ net/ kube/ sched/ plugin/ config/ admin/ daemon/ cli/'
    'core/main.c            ccm/ util/ net/ cli/'
    'tools/convert/         ccm/ util/ tools/convert/'
    'tools/                 ccm/ util/ net/ kube/ sched/ plugin/ config/ admin/ daemon/ cli/ tools/'
    'plugins/template/      ccm/'
    'plugins/alicloud/credential/ ccm/ util/ alicloud/ctx.h alicloud/measure.h alicloud/metadata.h alicloud/params.h alicloud/credential/'
    'plugins/alicloud/quota/ ccm/ util/ alicloud/client.h alicloud/ctx.h alicloud/endpoint.h alicloud/measure.h alicloud/options.h alicloud/quota/'
    'plugins/alicloud/      ccm/ util/ alicloud/ .'
    'plugins/lbc/tests/     ccm/ util/ lbc/ .'
    'plugins/lbc/model/     ccm/ util/ lbc/keys.h lbc/names.h lbc/model/'
    'plugins/lbc/rules/     ccm/ util/ lbc/keys.h lbc/names.h lbc/model/ lbc/rules/'
    'plugins/lbc/service/   ccm/ util/ lbc/keys.h lbc/names.h lbc/model/ lbc/service/'
    'plugins/lbc/apply/     ccm/ util/ lbc/keys.h lbc/names.h lbc/model/ lbc/rules/ lbc/service/ lbc/apply/'
    'plugins/lbc/custom/    ccm/ util/ lbc/relay.h lbc/model/ lbc/custom/'
    'plugins/lbc/pass/      ccm/ util/ lbc/'
    'plugins/lbc/report/    ccm/ util/ lbc/'
    'plugins/lbc/           ccm/ util/ lbc/ .'
    'plugins/alilb/         ccm/ util/ alicloud/ lbc/ alilb/ .'
    'plugins/clb/           ccm/ util/ alicloud/ lbc/ alilb/ clb/ .'
    'plugins/nlb/           ccm/ util/ alicloud/ lbc/ alilb/ nlb/ .'
    'plugins/gateway/       ccm/ util/ alicloud/ lbc/ alilb/ nlb/ gateway/ .'
    'plugins/route/         ccm/ util/ alicloud/ route/ .'
    'plugins/node/          ccm/ util/ alicloud/ node/ .'
)
# Tests of a plugin may use what tests share, and the simulated cloud.
test_extra='support/ tests/ sim/cloud/'
standard=' assert.h ctype.h errno.h inttypes.h limits.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h '

bad=0
complain() {
    echo "$1:$2: $3"
    bad=1
}

rule_of() {
    local rule
    for rule in "${rules[@]}"; do
        if [[ $1 == "${rule%% *}"* ]]; then
            echo "${rule#* }"
            return
        fi
    done
}

allowed() { # file name beginnings...
    local file=$1 name=$2 beginning
    shift 2
    for beginning in "$@"; do
        if [[ $beginning == . ]]; then
            [[ $name != */* && -e ${file%/*}/$name ]] && return 0
        elif [[ $name == "$beginning"* ]]; then
            return 0
        fi
    done
    return 1
}

pattern='^[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^">]+)[">]'
count=0
last=
allow=
while IFS=: read -r file line text; do
    file=${file#./}
    if [[ $file != "$last" ]]; then
        last=$file
        count=$((count + 1))
        allow=$(rule_of "$file")
        if [[ -z $allow ]]; then
            complain "$file" "$line" "no rule for this folder: add one to check-layers.sh"
        fi
        [[ $file == plugins/*/tests/* ]] && allow+=" $test_extra"
    fi
    if ! [[ $text =~ $pattern ]]; then
        complain "$file" "$line" "an include that cannot be read"
        continue
    fi
    form=${BASH_REMATCH[1]}
    name=${BASH_REMATCH[2]}
    if [[ $name == *..* ]]; then
        complain "$file" "$line" "includes $name: no way up"
    elif [[ $form == '"' || $name == ccm/* ]]; then
        # shellcheck disable=SC2086  # beginnings are words
        allowed "$file" "$name" $allow || complain "$file" "$line" "may not include $name"
    elif [[ $file == include/* && $standard != *" $name "* ]]; then
        complain "$file" "$line" "the SDK includes standard C headers only, not $name"
    elif [[ $name == curl/* && $file != core/net/* && $file != core/main.c ]]; then
        complain "$file" "$line" "$name: core/net is the one HTTP engine"
    fi
done < <(grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' include core plugins tools | sort -t: -k1,1 -s)

# What is Kubernetes in the load balancer engine names no cloud, nor a product of one.
while IFS=: read -r file line text; do
    complain "${file#./}" "$line" "names a cloud: $text"
done < <(find plugins/lbc -path '*/tests' -prune -o \
    \( -path '*/model/*' -o -path '*/rules/*' -o -path '*/service/*' \) -name '*.[ch]' -print0 2>/dev/null |
    sort -z | xargs -0r grep -HniE 'ali(cloud|baba|yun|_)|(^|[^a-z])([cns]lb|ecs|eni)([^a-z]|$)' || true)

if [[ $count -eq 0 ]]; then
    echo "check-layers: found no source file in $root"
    bad=1
fi
[[ $bad -eq 0 ]] && echo "check-layers: $count files, ok"
exit $bad
