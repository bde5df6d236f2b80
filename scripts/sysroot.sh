#!/usr/bin/env bash
# Headers and libraries of another architecture, for its cross compiler: Debian packages unpacked into a folder, so that this machine
# needs no foreign architecture. Does nothing when they are there already.
#
#   scripts/sysroot.sh ARCH FOLDER
set -euo pipefail
# shellcheck source=scripts/packaging.sh
. "$(dirname "$0")/packaging.sh"
arch=$1
sysroot=$2
packages=libc6-dev,libcurl4-openssl-dev,libcjson-dev,libconfig-dev,libssl-dev,libmicrohttpd-dev,libgnutls28-dev,libfyaml-dev,uthash-dev,zlib1g-dev
stamp=$sysroot/DEBIAN/complete

[ "$(cat "$stamp" 2>/dev/null || true)" != "$packages" ] || exit 0
rm -rf "$sysroot"
mkdir -p "$(dirname "$sysroot")"

# dpkg-shlibdeps reads of a package that is being built what it offers; here that is all libraries at once.
# shellcheck disable=SC2016
gather='mkdir -p "$1/DEBIAN"
for file in "$1"/var/cache/apt/archives/*.deb; do
    for kind in symbols shlibs; do
        dpkg-deb -I "$file" $kind 2>/dev/null >>"$1/DEBIAN/$kind" || true
    done
done'
run_step "libraries for $arch" "$sysroot.log" \
    mmdebstrap --verbose --variant=extract --format=directory --architectures="$arch" --include="$packages" --skip=check/empty \
    --dpkgopt='path-exclude=/usr/share/doc/*' --extract-hook="$gather" "$debian_release" "$sysroot" "${mirrors[@]}"

# Links to absolute paths would lead out of the folder.
find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
done
echo "$packages" >"$stamp"
