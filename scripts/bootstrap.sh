#!/usr/bin/env bash
# Installs what is missing from Debian 12, by package name, once, and says so.
#
#   scripts/bootstrap.sh build   compiler, build tools, libraries
#   scripts/bootstrap.sh test    build + what the tests and the demo run (python3, pytest, kubectl)
#   scripts/bootstrap.sh check   test + analysers and sanitizer runtimes
#   scripts/bootstrap.sh package [ARCH...]   build + what makes the Debian packages and the image, for other machines too
#
# Needs root or sudo only when something is missing.
set -euo pipefail

build_packages=(gcc libc6-dev make cmake ninja-build pkg-config
    libcurl4-openssl-dev libcjson-dev libconfig-dev libssl-dev libmicrohttpd-dev libgnutls28-dev libfyaml-dev uthash-dev
    libcmocka-dev zlib1g-dev python3)
package_packages=(dpkg-dev file mmdebstrap)
test_packages=("${package_packages[@]}" umoci gnupg python3-pytest python3-yaml python3-kubernetes ca-certificates curl openssl bubblewrap g++)
check_packages=(gcovr golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev rustc prometheus
    shellcheck mandoc systemd lintian chromium gcc-aarch64-linux-gnu qemu-user-static skopeo
    clang clang-format clang-tidy cppcheck valgrind libclang-rt-14-dev libasan8 libtsan2 libubsan1)

case "${1:-}" in
build) wanted=("${build_packages[@]}") ;;
test) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
package)
    wanted=("${build_packages[@]}" "${package_packages[@]}")
    for arch in "${@:2}"; do
        case $arch in
        "$(dpkg --print-architecture)") ;;
        arm64) wanted+=(gcc-aarch64-linux-gnu) ;;
        amd64) wanted+=(gcc-x86-64-linux-gnu) ;;
        *)
            echo "bootstrap: ARCH=$arch is none of amd64, arm64" >&2
            exit 2
            ;;
        esac
    done
    ;;
check) wanted=("${build_packages[@]}" "${test_packages[@]}" "${check_packages[@]}") ;;
*)
    echo "usage: $0 build|test|check|package [ARCH...]" >&2
    exit 2
    ;;
esac

# A kubectl from elsewhere is as good as Debian's, and the two packages would claim the same file.
runs_tests=$([[ $1 == test || $1 == check ]] && echo yes || true)
if [ "$runs_tests" ] && ! command -v kubectl >/dev/null; then
    wanted+=(kubernetes-client)
fi

# The official SDK clients run on any node from 18 on.
if [ "$runs_tests" ] && ! command -v node >/dev/null; then
    wanted+=(nodejs npm)
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "bootstrap: missing packages: ${missing[*]}" >&2
        echo "bootstrap: run as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "bootstrap: installing ${missing[*]}"
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >/dev/null
echo "bootstrap: done"
