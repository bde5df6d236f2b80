#!/usr/bin/env bash
# Builds an OCI image of ccmd without a container daemon: a Debian root with nothing but the package and what it needs,
# as the only layer. Needs mmdebstrap. Of the same source and Debian packages it is the same byte for byte.
#
#   scripts/image.sh [OCI_LAYOUT[:TAG]]     default build/image/oci:VERSION
#   ARCH=arm64, ARCH="amd64 arm64"          for which machines, default this one; of several an index is made
#   JOBS=N                                  compilers at a time
#   CCM_MIRROR=URL                          where Debian packages come from
#   CCM_SOURCE_URL=URL                      where this source is published, for the labels; default the remote "origin", if it is https
#   CCM_DEBS=FOLDER                         packages of scripts/deb.sh that are there already
#
# Beside the layout, and as an attachment in it, is an SBOM (SPDX 2.3) for each machine: what packages of which version it has.
# Push it with any OCI tool, such as: skopeo copy --all oci:build/image/oci:VERSION docker://registry/ccmd:VERSION
set -euo pipefail
# shellcheck source=scripts/packaging.sh
. "$(dirname "$0")/packaging.sh"
target=${1:-$root/build/image/oci:$version}
layout=${target%:*}
tag=${target##*:}
mkdir -p "$(dirname "$layout")"
work=$(realpath "$(dirname "$layout")")
archs=${ARCH:-$native}
debs=${CCM_DEBS:-$work/deb}

# What the scripts of packages would do is done below; a package is known to scanners by its entry in status.d. $1 is the root.
# shellcheck disable=SC2016
gather='set -e
mkdir -p "$1/.packages" "$1/.ca"
(cd "$1/.ca" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq -o APT::Sandbox::User=root download ca-certificates)
for file in "$1"/var/cache/apt/archives/*.deb "$1"/.ca/*.deb; do
    name=$(dpkg-deb -f "$file" Package)
    dpkg-deb -f "$file" >"$1/.packages/$name"
    sha256sum <"$file" | cut -d" " -f1 >"$1/.packages/$name.sha256"
done
dpkg-deb -x "$1"/.ca/*.deb "$1/.ca"'

# unpack_packages ARCH ROOT PACKAGE: a root with nothing but files: no shell, no package tools.
unpack_packages() {
    local depends
    depends=$(dpkg-deb -f "$3" Depends | sed -E 's/ \([^)]*\)//g; s/ \| [^,]*//g; s/, */,/g')
    rm -rf "$2"
    mmdebstrap --verbose --variant=extract --format=directory --architectures="$1" --include="$depends" --skip=check/empty \
        --dpkgopt='path-exclude=/usr/share/man/*' --extract-hook="$gather" "$debian_release" "$2" "${mirrors[@]}"
    dpkg-deb -x "$3" "$2"
    dpkg-deb -f "$3" >"$2/.packages/ccmd"
    sha256sum <"$3" | cut -d' ' -f1 >"$2/.packages/ccmd.sha256"
}

# trim_root ROOT PACKAGES: what no program of the image reads goes; PACKAGES gets what is known of each package.
trim_root() {
    local top=$1
    rm -rf "$2"
    mv "$top/.packages" "$2"
    mkdir -p "$top/etc/ssl/certs" "$top/usr/share/doc/ca-certificates"
    cat "$top"/.ca/usr/share/ca-certificates/mozilla/*.crt >"$top/etc/ssl/certs/ca-certificates.crt"
    cp "$top/.ca/usr/share/doc/ca-certificates/copyright" "$top/usr/share/doc/ca-certificates/"
    printf 'root:x:0:0::/:/sbin/nologin\nccmd:x:65532:65532::/:/sbin/nologin\n' >"$top/etc/passwd"
    printf 'root:x:0:\nccmd:x:65532:\n' >"$top/etc/group"
    printf 'hosts: files dns\n' >"$top/etc/nsswitch.conf"
    find "$top/usr/share/doc" -type f ! -name copyright -delete
    find "$top/usr/share/doc" -mindepth 1 -type d -empty -delete
    rm -rf "${top:?}"/.ca "${top:?}"/{var,dev,boot,home,media,mnt,opt,srv,run,sys,proc,root,tmp} "${top:?}"/lib/systemd \
        "${top:?}"/usr/share/{man,bash-completion,zsh,fish,lintian,locale,info} "${top:?}"/etc/ccmd/* \
        "${top:?}"/usr/lib/*/{perl*,gconv,audit} "${top:?}"/etc/{apt,dpkg,cron*,logrotate.d} \
        "${top:?}"/etc/{hostname,hosts,resolv.conf,fstab} # of the machine that builds
    mkdir -m 1777 "$top/tmp"
    mkdir -p "$top"/{proc,sys,dev,run,var/lib/dpkg/status.d}
    find "$2" -type f ! -name '*.sha256' -exec cp {} "$top/var/lib/dpkg/status.d/" \;
    mkdir -p "$top/usr/lib"
    printf 'ID=debian\nVERSION_ID="12"\nNAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 12"\n' >"$top/usr/lib/os-release"
    ln -sf ../usr/lib/os-release "$top/etc/os-release"
}

make_layer() { # ROOT LAYER
    tar -C "$1" --format=gnu --numeric-owner --owner=0 --group=0 --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf "$2" .
    gzip -9nc "$2" >"$2.gz"
}

source_url() {
    local url=${CCM_SOURCE_URL:-$(git -C "$root" remote get-url origin 2>/dev/null || true)}
    # Nothing of this machine, and no password.
    grep -oE '^https://[^/@]+/.+' <<<"$url" | sed 's/\.git$//' || true
}

arguments=()
for arch in $archs; do
    triple_of "$arch" >/dev/null
    [ -n "${CCM_DEBS:-}" ] || ARCH=$arch "$root/scripts/deb.sh" "$debs" >/dev/null
    package=$debs/ccmd_${version}_$arch.deb
    top=$work/root-$arch
    run_step "libraries of the image for $arch" "$work/mmdebstrap-$arch.log" unpack_packages "$arch" "$top" "$package"
    trim_root "$top" "$work/packages-$arch"
    run_step "layer for $arch" "$work/layer-$arch.log" make_layer "$top" "$work/layer-$arch.tar"
    python3 "$root/scripts/sbom.py" "$work/packages-$arch" "$top" "$version" "$SOURCE_DATE_EPOCH" >"$work/ccmd_${version}_$arch.spdx.json"
    arguments+=("$arch=$work/layer-$arch.tar,$work/ccmd_${version}_$arch.spdx.json")
    rm -rf "$work/packages-$arch"
done
python3 "$root/scripts/oci.py" "$layout" "$tag" "$SOURCE_DATE_EPOCH" "$version" "$revision" "$(source_url)" "${arguments[@]}"
for arch in $archs; do
    printf '%s:%s: %s: %s in %s files, %s compressed\n' "$layout" "$tag" "$arch" "$(du -sh "$work/root-$arch" | cut -f1)" \
        "$(find "$work/root-$arch" -type f | wc -l)" "$(du -h "$work/layer-$arch.tar.gz" | cut -f1)"
done
