"""Prints the SBOM of an image: SPDX 2.3 as JSON, of the Debian packages that it was made of.

    sbom.py PACKAGES ROOT VERSION SECONDS

PACKAGES holds for each package its control file, NAME, and the checksum of the .deb, NAME.sha256; ROOT is the root of the image;
SECONDS is the time of the source. The same input gives the same text."""

import hashlib
import json
import os
import sys
import time
import urllib.parse

DISTRIBUTION = "debian"
LICENSE_OF_CCMD = "Apache-2.0"


def fields(path):
    """{name: first line of its value} of a control file."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line[:1] not in (" ", "\t", "\n") and ":" in line:
                name, _, value = line.partition(":")
                found[name] = value.strip()
    return found


def source_of(control):
    """(name, version) of the source package; Debian leaves out what is the same."""
    name, _, version = control.get("Source", control["Package"]).partition(" ")
    return name, version.strip("()") or control["Version"]


def package(control, checksum):
    name, version, arch = control["Package"], control["Version"], control["Architecture"]
    quoted = urllib.parse.quote(version, safe="")
    ours = name == "ccmd"
    source, source_version = source_of(control)
    made = {
        "SPDXID": "SPDXRef-Package-" + name.replace("+", "-plus-"),
        "name": name,
        "versionInfo": version,
        "supplier": "NOASSERTION" if ours else "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": checksum}],
        "licenseConcluded": LICENSE_OF_CCMD if ours else "NOASSERTION",
        "licenseDeclared": LICENSE_OF_CCMD if ours else "NOASSERTION",
        "licenseComments": f"/usr/share/doc/{name}/copyright in the image",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:generic/ccmd@{quoted}?arch={arch}" if ours else
                                f"pkg:deb/{DISTRIBUTION}/{urllib.parse.quote(name, safe='')}@{quoted}?arch={arch}&distro={DISTRIBUTION}-12"}],
    }
    if not ours:
        made["sourceInfo"] = f"built from {source} {source_version}"
    if control.get("Homepage"):
        made["homepage"] = control["Homepage"]
    return made


def main():
    folder, root, version, seconds = sys.argv[1:]
    packages = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".sha256"):
            with open(os.path.join(folder, name + ".sha256"), encoding="utf-8") as file:
                packages.append(package(fields(os.path.join(folder, name)), file.read().strip()))
            assert os.path.exists(os.path.join(root, "usr/share/doc", name)), f"{name}: the image has no copyright file of it"
    arch = fields(os.path.join(folder, "ccmd"))["Architecture"]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    ours = "SPDXRef-Package-ccmd"
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image"), ("SPDXRef-Image", "CONTAINS", ours)]
    relations += [("SPDXRef-Image", "CONTAINS", one["SPDXID"]) for one in packages if one["SPDXID"] != ours]
    image = {
        "SPDXID": "SPDXRef-Image", "name": "ccmd", "versionInfo": version, "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "primaryPackagePurpose": "CONTAINER", "licenseConcluded": "NOASSERTION", "licenseDeclared": LICENSE_OF_CCMD,
        "licenseComments": "as its label says, of ccmd; packages of Debian in it have their own", "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:oci/ccmd?arch={arch}&tag={version}"}]}
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"ccmd-{version}-{arch}",
        # A name, not an address: nothing is to be found there.
        "documentNamespace": f"urn:ccmd:sbom:{version}:{arch}:{digest}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds))),
                         "creators": [f"Tool: ccmd-sbom-{version}"]},
        "packages": [image, *packages],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
