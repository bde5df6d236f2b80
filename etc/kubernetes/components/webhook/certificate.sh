#!/usr/bin/env bash
# Certificate of `ccmd webhook` without cert-manager: makes a CA and a certificate of it, writes Secret ccmd-webhook, and tells the API
# server the CA. Run it after the component is applied, and again before the certificate ends: pods take the new one over by themselves.
#
#   certificate.sh [DAYS]           KUBECTL="kubectl --context X" NAMESPACE=kube-system SERVICE=ccmd-webhook CONFIGURATION=ccmd
set -euo pipefail

days=${1:-825}
kubectl=${KUBECTL:-kubectl}
namespace=${NAMESPACE:-kube-system}
service=${SERVICE:-ccmd-webhook}
configuration=${CONFIGURATION:-ccmd}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${key[@]}" -keyout ca.key -out ca.crt -days "$days" -subj "/CN=$service CA" 2>/dev/null
openssl req "${key[@]}" -keyout tls.key -out tls.csr -subj "/CN=$service.$namespace.svc" 2>/dev/null
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out tls.crt -days "$days" \
    -extfile <(echo "subjectAltName=DNS:$service.$namespace.svc,DNS:$service.$namespace.svc.cluster.local") 2>/dev/null

# shellcheck disable=SC2086 # it may be a command with options
$kubectl create secret tls "$service" --namespace "$namespace" --cert tls.crt --key tls.key --dry-run=client -o yaml |
    $kubectl apply -f -
# shellcheck disable=SC2086
$kubectl patch validatingwebhookconfiguration "$configuration" --type json \
    -p "[{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$(base64 -w0 <ca.crt)\"}]"
