#!/usr/bin/env bash
# Signs the checksums of a release, after it has looked whether they hold.
#
#   scripts/sign.sh KEY [FOLDER]     FOLDER: default build/dist
#
# KEY is a file with a private key for openssl (PEM, such as Ed25519): SHA256SUMS.sig; or else a key of gpg, by fingerprint or
# address: SHA256SUMS.asc. docs/releases.md tells how keys are made and signatures looked at.
set -euo pipefail
if [ $# -lt 1 ] || [ -z "$1" ]; then
    echo "usage: make sign KEY=FILE.pem, or KEY=FINGERPRINT of gpg" >&2
    exit 2
fi
key=$(realpath -e "$1" 2>/dev/null || echo "$1")
cd "${2:-$(dirname "$0")/../build/dist}"
sha256sum --check --quiet SHA256SUMS
if [ -f "$key" ]; then
    openssl pkeyutl -sign -rawin -inkey "$key" -in SHA256SUMS -out SHA256SUMS.sig
    echo "$PWD/SHA256SUMS.sig"
else
    gpg --batch --yes --local-user "$key" --armor --detach-sign --output SHA256SUMS.asc SHA256SUMS
    echo "$PWD/SHA256SUMS.asc"
fi
