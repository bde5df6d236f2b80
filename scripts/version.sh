#!/usr/bin/env bash
# The version stands in the file VERSION; manifests, chart and pages that people copy from have it too.
#
#   scripts/version.sh              prints VERSION, and what says something else: exit 1 then
#   scripts/version.sh X.Y.Z        writes X.Y.Z to all of these places, and what the headers of libccm-lbc.a declare in that version
set -euo pipefail
cd "$(dirname "$0")/.."

# Each place: file, and an extended regular expression: a group of what stands before the version, and the version.
places=(
    'etc/helm/ccmd/Chart.yaml|^(version: )VERSION$'
    'etc/helm/ccmd/Chart.yaml|^(appVersion: )VERSION$'
    'etc/kubernetes/base/kustomization.yaml|^( *newTag: )VERSION$'
    'etc/kubernetes/components/webhook/kustomization.yaml|^( *newTag: )VERSION$'
    'README.md|(ccmd:)VERSION'
    'README.md|(image/oci:)VERSION'
    'docs/migration.md|(newTag: )VERSION'
    'docs/new-cluster.md|(newTag: )VERSION'
    'docs/install.md|(newTag: )VERSION'
    'docs/install.md|(ccmd:)VERSION'
    'docs/install.md|(image/oci:)VERSION'
    'docs/releases.md|(ccmd-image-)VERSION'
    'docs/releases.md|((oci|ccmd):)VERSION'
    'docs/plugin-shipping.md|(/ccmd:)VERSION'
)
number='[0-9]+\.[0-9]+\.[0-9]+'

# write_place FILE PATTERN VERSION
write_place() {
    sed -E -i "s#${2/VERSION/$number}#\\1$3#g" "$1"
}

# What a place has that is not VERSION, one a line.
others_of() { # FILE PATTERN VERSION
    local found
    found=$(grep -oE "${2/VERSION/$number}" "$1" | grep -oE "$number" || true)
    [ -n "$found" ] || echo "none"
    grep -vxF "$3" <<<"$found" || true
}

if [ $# -gt 0 ]; then
    if ! grep -qxE "$number" <<<"$1"; then
        echo "version: '$1' is no X.Y.Z" >&2
        exit 2
    fi
    echo "$1" >VERSION
    for place in "${places[@]}"; do
        write_place "${place%%|*}" "${place#*|}" "$1"
    done
    scripts/check-engine.py --record
fi

version=$(cat VERSION)
result=0
for place in "${places[@]}"; do
    for other in $(others_of "${place%%|*}" "${place#*|}" "$version"); do
        [ -n "$other" ] || continue
        echo "version: ${place%%|*} says $other, not $version" >&2
        result=1
    done
done
echo "$version"
exit $result
