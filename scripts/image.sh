#!/usr/bin/env bash
# Builds an OCI image of ccmd without a container daemon: a Debian root with nothing but the package and what it needs,
# as the only layer. Needs mmdebstrap and umoci.
#
#   scripts/image.sh [OCI_LAYOUT[:TAG]]     default build/image/oci:VERSION
#   CCM_MIRROR=URL                          where Debian packages come from
#
# Push it with any OCI tool, such as: skopeo copy oci:build/image/oci:0.1.0 docker://registry/ccmd:0.1.0
set -euo pipefail
umask 022

root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^project(ccmd VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
target=${1:-$root/build/image/oci:$version}
layout=${target%:*}
tag=${target##*:}
work=$(dirname "$layout")
mkdir -p "$work"

"$root/scripts/deb.sh" "$work/deb" >/dev/null
package=$(ls "$work"/deb/ccmd_*.deb)

# A root with nothing but files: no shell, no package tools. Packages are unpacked; what their scripts would do is done here.
sources=()
[ -n "${CCM_MIRROR:-}" ] && sources=("$CCM_MIRROR") || sources=(/etc/apt/sources.list.d/debian.sources)
[ -n "${CCM_MIRROR:-}" ] || [ -e "${sources[0]}" ] || sources=(/etc/apt/sources.list)
depends=$(dpkg-deb -f "$package" Depends | sed -E 's/ \([^)]*\)//g; s/ \| [^,]*//g; s/, */,/g')
rm -rf "$work/root" "$work/ca" "$layout"
mmdebstrap --quiet --variant=extract --format=directory --include="$depends" --skip=check/empty \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    bookworm "$work/root" "${sources[@]}" >"$work/mmdebstrap.log" 2>&1 || { tail -20 "$work/mmdebstrap.log"; exit 1; }
dpkg-deb -x "$package" "$work/root"

mkdir -p "$work/ca" "$work/root/etc/ssl/certs"
(cd "$work/ca" && apt-get -qq -o APT::Sandbox::User=root download ca-certificates && dpkg-deb -x ./ca-certificates_*.deb .)
cat "$work"/ca/usr/share/ca-certificates/mozilla/*.crt >"$work/root/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0::/:/sbin/nologin\nccmd:x:65532:65532::/:/sbin/nologin\n' >"$work/root/etc/passwd"
printf 'root:x:0:\nccmd:x:65532:\n' >"$work/root/etc/group"
printf 'hosts: files dns\n' >"$work/root/etc/nsswitch.conf"
rm -rf "$work"/root/{var,dev,boot,home,media,mnt,opt,srv,run,sys,proc,root,tmp} "$work"/root/lib/systemd \
    "$work"/root/usr/share/{doc,man,bash-completion,lintian,locale,info} "$work"/root/etc/ccmd/* \
    "$work"/root/usr/lib/*/{perl*,gconv,audit} "$work"/root/etc/{apt,dpkg,cron*,logrotate.d} \
    "$work"/root/etc/{hostname,hosts,resolv.conf,fstab} # of the machine that builds
mkdir -m 1777 "$work/root/tmp"
mkdir -p "$work"/root/{proc,sys,dev,run}

tar -C "$work/root" --numeric-owner --owner=0 --group=0 --sort=name --mtime=@0 -cf "$work/layer.tar" .
umoci --log=error init --layout "$layout"
umoci --log=error new --image "$layout:$tag"
umoci --log=error raw add-layer --image "$layout:$tag" "$work/layer.tar"
umoci --log=error config --image "$layout:$tag" --config.user 65532:65532 --config.entrypoint /usr/bin/ccmd \
    --config.cmd run --config.env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    --config.label org.opencontainers.image.title=ccmd --config.label "org.opencontainers.image.version=$version"
umoci --log=error gc --layout "$layout"
printf '%s:%s: %s in %s files, %s compressed\n' "$layout" "$tag" "$(du -sh "$work/root" | cut -f1)" \
    "$(find "$work/root" -type f | wc -l)" "$(du -sh "$layout" | cut -f1)"
