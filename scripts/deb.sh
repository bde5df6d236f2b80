#!/usr/bin/env bash
# Builds the Debian packages ccmd and ccmd-dev for Debian 12; prints their paths. Of the same source, with the same compiler and
# libraries, they are the same byte for byte.
#
#   scripts/deb.sh [FOLDER]       where they go; default build/deb
#   ARCH=arm64                    for another machine than this one: amd64, arm64; needs its cross compiler (bootstrap.sh cross)
#   JOBS=N                        compilers at a time
#   DEBEMAIL=... DEBFULLNAME=...  who answers for them, as for Debian's own tools
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "$0")/../build/deb}")
# shellcheck source=scripts/packaging.sh
. "$(dirname "$0")/packaging.sh"
arch=${ARCH:-$native}
triple=$(triple_of "$arch")
build=$root/build/package
[ "$arch" = "$native" ] || build=$root/build/package-$arch

# Packages are stripped: what debuggers read would only bring the path of this tree into the build id.
options=(-DCMAKE_INSTALL_PREFIX=/usr -DCCM_SYSTEM_FILES=ON -DCCM_TESTS=OFF -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" "-DCMAKE_C_FLAGS=-ffile-prefix-map=$root=/usr/src/ccmd")
[ -z "${DEBEMAIL:-}" ] || options+=("-DCCM_MAINTAINER=${DEBFULLNAME:-ccmd} <$DEBEMAIL>")
if [ "$arch" != "$native" ]; then
    sysroot=$root/build/sysroot-$arch
    "$root/scripts/sysroot.sh" "$arch" "$sysroot"
    options+=("-DCMAKE_TOOLCHAIN_FILE=$root/cmake/CcmCross.cmake" "-DCCM_CROSS_TRIPLE=$triple" "-DCCM_SYSROOT=$sysroot"
        "-DCMAKE_INSTALL_LIBDIR=lib/$triple" "-DCPACK_DEBIAN_PACKAGE_ARCHITECTURE=$arch")
    # Names and versions of the libraries are those of the other architecture.
    mkdir -p "$build/tools"
    printf '#!/bin/sh\nDEB_HOST_ARCH=%s exec %s -S%s "$@"\n' "$arch" "$(command -v dpkg-shlibdeps)" "$sysroot" \
        >"$build/tools/dpkg-shlibdeps"
    chmod +x "$build/tools/dpkg-shlibdeps"
    export PATH=$build/tools:$PATH
fi

mkdir -p "$out"
# A tree that was copied or moved: the paths in its cache are those of before.
grep -qs "^CMAKE_HOME_DIRECTORY:INTERNAL=$root$" "$build/CMakeCache.txt" || rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
run_step "configure for $arch" "$out/configure.log" cmake --preset release -S "$root" -B "$build" "${options[@]}"
run_step "build for $arch" "$out/build.log" cmake --build "$build" -j "${JOBS:-$(nproc)}"
pack() {
    cd "$build"
    rm -f ./*.deb
    cpack -G DEB
}
run_step "pack for $arch" "$out/cpack.log" pack
rm -f "$out"/ccmd_*_"$arch".deb "$out"/ccmd-dev_*_"$arch".deb
mv "$build"/*.deb "$out/"
ls "$out"/*_"$arch".deb
