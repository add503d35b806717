#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py VERSION EPOCH INSTALLED FILE...: what a release is made of, as SPDX 2.3 in JSON, on standard output.

INSTALLED is a directory with the installed program, or several with `:` between them. The libraries that it needs are those
of this machine, as dpkg knows them, with the headers that are compiled in; a portable program lists those in it itself.
FILE... are the files of the release, with their checksums."""

import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

# Libraries that leave no trace in the program but their code: packages of their headers, and their licenses.
HEADERS = {"libboost-math-dev": "BSL-1.0", "libcli11-dev": "BSD-3-Clause", "libexpected-dev": "CC0-1.0",
           "libflatbuffers-dev": "Apache-2.0", "nlohmann-json3-dev": "MIT"}
# A library that the program loads by its name (fs/http/microhttpd.cpp); its package of headers stands for it.
LOADED = {"libmicrohttpd-dev": "LGPL-2.1-or-later"}


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def list_of_parts(installed):
    """Path of the list that a portable program brings."""
    return os.path.join(installed, "share", "doc", "tfilefs", "licenses", "parts")


def needed_libraries(installed):
    """Paths of the shared libraries that the program and its module name themselves; a portable one has none."""
    names = set()
    if os.path.exists(list_of_parts(installed)):
        return names
    for path in (os.path.join(installed, "bin", "tfilefs"), *glob.glob(os.path.join(installed, "lib*", "**", "*.so"), recursive=True)):
        wanted = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "--dynamic", path)))
        where = dict(re.findall(r"^\s*(\S+) => (\S+)", said("ldd", path), re.MULTILINE))
        names |= {where[name] for name in wanted if name in where}
    return {os.path.realpath(name) for name in names}


def parts_inside(installed):
    """(name, version, architecture, license) of the libraries in a portable program."""
    path = list_of_parts(installed)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield (*line.split(), "NOASSERTION")


def debian_packages(installed):
    """(name, version, architecture, license) of what is linked or compiled in."""
    found = set(HEADERS)
    if not all(os.path.exists(list_of_parts(each)) for each in installed):
        found |= set(LOADED)  # a portable program has it inside
    for path in set().union(*map(needed_libraries, installed)):
        # dpkg knows files by the paths of before /lib was a link to /usr/lib.
        for name in (path, path.removeprefix("/usr")):
            done = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
            if done.returncode == 0:
                found.add(done.stdout.split(":")[0])
                break
    for name in sorted(found):
        line = said("dpkg-query", "--show", "--showformat", "${Package} ${Version} ${Architecture}\n", name).splitlines()[0]
        yield (*line.split(), (HEADERS | LOADED).get(name, "NOASSERTION"))


def identity(*words):
    return "-".join(["SPDXRef", *(re.sub(r"[^A-Za-z0-9.-]", "-", word) for word in words)])


def package(name, version, license_name, **more):
    return {"name": name, "SPDXID": identity(name), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": license_name,
            "licenseDeclared": license_name, "copyrightText": "NOASSERTION", **more}


def release_file(path):
    with open(path, "rb") as file:
        content = file.read()
    name = os.path.basename(path)
    return {"fileName": "./" + name, "SPDXID": identity("File", name),
            "checksums": [{"algorithm": each, "checksumValue": hashlib.new(each.lower(), content).hexdigest()} for each in ("SHA1", "SHA256")],
            "licenseConcluded": "Apache-2.0", "licenseInfoInFiles": ["Apache-2.0"], "copyrightText": "The authors of tfilefs"}


def document(version, epoch, installed, paths):
    packages = [package("tfilefs", version, "Apache-2.0")]
    inside = {part for each in installed for part in parts_inside(each)}
    for name, its_version, architecture, license_name in sorted(inside.union(debian_packages(installed))):
        purl = f"pkg:deb/debian/{name}@{its_version}?arch={architecture}"
        packages.append(package(name, its_version, license_name, SPDXID=identity(name, architecture), externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]))
    files = [release_file(path) for path in sorted(paths)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-tfilefs")]
    relations += [("SPDXRef-tfilefs", "DEPENDS_ON", each["SPDXID"]) for each in packages[1:]]
    relations += [(each["SPDXID"], "GENERATED_FROM", "SPDXRef-tfilefs") for each in files]
    content = json.dumps([packages, files], sort_keys=True)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"tfilefs-{version}",
            "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, content).urn,
            "creationInfo": {"created": datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Tool: packaging/sbom.py", "Organization: tfilefs"]},
            "packages": packages, "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


def main():
    version, epoch, installed, *paths = sys.argv[1:]
    json.dump(document(version, epoch, installed.split(":"), paths), sys.stdout, indent=1)
    print()


main()
