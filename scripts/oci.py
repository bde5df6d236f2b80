"""Writes an OCI image layout: an image of one layer for each machine, and attached to each its SBOM.

    oci.py LAYOUT TAG SECONDS VERSION REVISION SOURCE_URL ARCH=LAYER,SBOM...

LAYER is a tar file with LAYER.gz beside it. One machine gives an image by the name TAG, several give an index by that name. An SBOM is an
artifact whose subject is the image, by the name TAG-ARCH.spdx. The same input gives the same layout."""

import hashlib
import json
import os
import shutil
import sys
import time

TYPE = "application/vnd.oci."
LABEL = "org.opencontainers.image."
SPDX = "application/spdx+json"
EMPTY = b"{}"


class Layout:
    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "blobs", "sha256"))
        self.index = []

    def blob(self, media_type, data, **more):
        """Its descriptor."""
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.folder, "blobs", "sha256", digest), "wb") as file:
            file.write(data)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data), **more}

    def json(self, media_type, value, **more):
        return self.blob(media_type, json.dumps(value, separators=(",", ":"), sort_keys=True).encode(), **more)

    def name(self, descriptor, tag):
        self.index.append({**descriptor, "annotations": {LABEL + "ref.name": tag}})

    def finish(self):
        for name, value in (("oci-layout", {"imageLayoutVersion": "1.0.0"}),
                            ("index.json", {"schemaVersion": 2, "mediaType": TYPE + "image.index.v1+json", "manifests": self.index})):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                json.dump(value, file, sort_keys=True)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def labels(created, version, revision, source):
    found = {
        "title": "ccmd",
        "description": "Cloud controller manager for Kubernetes on Alibaba Cloud: CLB and NLB load balancers, VPC routes",
        "version": version, "created": created, "licenses": "Apache-2.0", "revision": revision, "source": source, "url": source,
        "documentation": f"{source}/blob/{revision}/README.md" if source and revision and "-" not in revision else source,
    }
    return {LABEL + name: value for name, value in found.items() if value}


def image(layout, arch, layer, created, marks):
    """Descriptor of the manifest."""
    config = {
        "created": created, "architecture": arch, "os": "linux",
        "config": {"User": "65532:65532", "Entrypoint": ["/usr/bin/ccmd"], "Cmd": ["run"], "Labels": marks,
                   "Env": ["PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(read(layer)).hexdigest()]},
        "history": [{"created": created, "created_by": "scripts/image.sh"}],
    }
    manifest = {
        "schemaVersion": 2, "mediaType": TYPE + "image.manifest.v1+json", "annotations": marks,
        "config": layout.json(TYPE + "image.config.v1+json", config),
        "layers": [layout.blob(TYPE + "image.layer.v1.tar+gzip", read(layer + ".gz"))],
    }
    return layout.json(TYPE + "image.manifest.v1+json", manifest, platform={"architecture": arch, "os": "linux"})


def attach(layout, subject, sbom, created):
    """Descriptor of the artifact."""
    manifest = {
        "schemaVersion": 2, "mediaType": TYPE + "image.manifest.v1+json", "artifactType": SPDX,
        "config": layout.blob(TYPE + "empty.v1+json", EMPTY),
        "layers": [layout.blob(SPDX, read(sbom), annotations={LABEL + "title": os.path.basename(sbom)})],
        "subject": {name: subject[name] for name in ("mediaType", "digest", "size")},
        "annotations": {LABEL + "created": created},
    }
    return layout.json(TYPE + "image.manifest.v1+json", manifest, artifactType=SPDX)


def main():
    folder, tag, seconds, version, revision, source = sys.argv[1:7]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))
    marks = labels(created, version, revision, source)
    layout, images, artifacts = Layout(folder), [], []
    for one in sys.argv[7:]:
        arch, _, files = one.partition("=")
        layer, _, sbom = files.rpartition(",")
        images.append(image(layout, arch, layer, created, marks))
        artifacts.append((attach(layout, images[-1], sbom, created), f"{tag}-{arch}.spdx"))
    if len(images) == 1:
        layout.name(images[0], tag)
    else:
        index = {"schemaVersion": 2, "mediaType": TYPE + "image.index.v1+json", "manifests": images, "annotations": marks}
        layout.name(layout.json(TYPE + "image.index.v1+json", index), tag)
    for descriptor, name in artifacts:
        layout.name(descriptor, name)
    layout.finish()


if __name__ == "__main__":
    main()
