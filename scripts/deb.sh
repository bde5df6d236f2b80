#!/usr/bin/env bash
# Builds the Debian packages ccmd and ccmd-dev for the release this runs on; prints their paths.
#
#   scripts/deb.sh [FOLDER]     where they go; default build/deb
#   DEBEMAIL=... DEBFULLNAME=...  who answers for them, as for Debian's own tools
set -euo pipefail
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/build/deb}
build=$root/build/package

maintainer=()
[ -z "${DEBEMAIL:-}" ] || maintainer=("-DCCM_MAINTAINER=${DEBFULLNAME:-ccmd} <$DEBEMAIL>")

mkdir -p "$out"
cmake --preset release -S "$root" -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DCCM_SYSTEM_FILES=ON \
    -DCCM_TESTS=OFF "${maintainer[@]}" >"$out/configure.log" 2>&1 || { cat "$out/configure.log" >&2; exit 1; }
cmake --build "$build" -j "$(nproc)" >"$out/build.log" 2>&1 || { tail -50 "$out/build.log" >&2; exit 1; }
(cd "$build" && rm -f ./*.deb && cpack -G DEB >"$out/cpack.log" 2>&1) || { cat "$out/cpack.log" >&2; exit 1; }
mv "$build"/*.deb "$out/"
ls "$out"/*.deb
