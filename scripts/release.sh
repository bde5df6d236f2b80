#!/usr/bin/env bash
# Everything that a release has, in one folder: source, Debian packages, chart, image, SBOMs, checksums. Of the same commit and Debian
# packages it is the same byte for byte. Prints what is there.
#
#   scripts/release.sh [FOLDER]     default build/dist; it is made anew
#   ARCH="amd64 arm64"              for which machines
#   JOBS=N, CCM_MIRROR=URL, CCM_SOURCE_URL=URL, DEBEMAIL=...   as of deb.sh and image.sh
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "$0")/../build/dist}")
# shellcheck source=scripts/packaging.sh
. "$(dirname "$0")/packaging.sh"
archs=${ARCH:-amd64 arm64}
cd "$root"

if [ -z "$(git rev-parse --git-dir 2>/dev/null)" ] || [ -n "$(git status --porcelain)" ]; then
    echo "release: only from a checkout without changes: what is released is what is committed" >&2
    exit 1
fi
scripts/version.sh >/dev/null

rm -rf "$out"
mkdir -p "$out"
git archive --format=tar --prefix="ccmd-$version/" HEAD | gzip -9n >"$out/ccmd-$version.tar.gz"
tar -C etc/helm --format=gnu --numeric-owner --owner=0 --group=0 --mode=u=rwX,go=rX --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - ccmd |
    gzip -9n >"$out/ccmd-chart-$version.tgz"

work=$root/build/release-image
for arch in $archs; do
    ARCH=$arch scripts/deb.sh "$work/deb" >/dev/null
    cp "$work"/deb/*_"$version"_"$arch".deb "$out/"
done
ARCH=$archs CCM_DEBS=$work/deb scripts/image.sh "$work/oci:$version" >/dev/null
tar -C "$work/oci" --format=gnu --numeric-owner --owner=0 --group=0 --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
    -cf "$out/ccmd-image-$version.tar" .
for arch in $archs; do
    cp "$work/ccmd_${version}_$arch.spdx.json" "$out/"
done
python3 - "$work/oci/index.json" >"$out/ccmd-image-$version.digest" <<'END'
import json, sys
print(json.load(open(sys.argv[1], encoding="utf-8"))["manifests"][0]["digest"])
END
(cd "$out" && sha256sum -- * >../SHA256SUMS.new && mv ../SHA256SUMS.new SHA256SUMS)
(cd "$out" && ls -1 -- *)
