# SPDX-License-Identifier: Apache-2.0
"""A release: one version everywhere, the same bytes from two checkouts, its list of parts, and whose everything is."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import pytest
import yaml

import package_life
from conftest import KEY, ROOT, build_directory, cached, make_release, only


def content(path):
    with open(path, "rb") as file:
        return file.read()


def test_the_version_is_the_same_everywhere(release, program):
    wanted = cached("CMAKE_PROJECT_VERSION")
    assert subprocess.run([program, "--version"], capture_output=True, text=True).stdout == f"tfilefs {wanted}\n"
    for pattern in (r"tfilefs-V\.tar\.gz", r"tfilefs-V-linux-\w+\.tar\.gz", r"tfilefs-V-py3-none-\w+\.whl", r"tfilefs_V~\w+_\w+\.deb",
                    r"libtfile-dev_V~\w+_\w+\.deb", r"tfilefs-dbgsym_V~\w+_\w+\.deb", r"tfilefs-V\.spdx\.json", r"tfilefs-V-notes\.md"):
        only(release, pattern.replace("V", re.escape(wanted)))
    with open(os.path.join(ROOT, "CITATION.cff"), encoding="utf-8") as file:
        assert f"\nversion: {wanted}\n" in file.read()
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        assert re.search(rf"^## {re.escape(wanted)} - \d{{4}}-\d\d-\d\d$", file.read(), re.MULTILINE)


def test_sums_are_those_of_the_files(release):
    lines = content(os.path.join(release, "SHA256SUMS")).decode().splitlines()
    told = dict(reversed(line.split("  ")) for line in lines)
    assert set(told) == set(os.listdir(release)) - {"SHA256SUMS", "SHA256SUMS.asc"}
    for name, checksum in told.items():
        assert hashlib.sha256(content(os.path.join(release, name))).hexdigest() == checksum, name


def test_sums_are_signed(release, tmp_path):
    verify = ["gpgv", "--keyring", f"{release}.key", os.path.join(release, "SHA256SUMS.asc")]
    done = subprocess.run([*verify, os.path.join(release, "SHA256SUMS")], capture_output=True, text=True)
    assert done.returncode == 0 and KEY in done.stderr, done.stderr
    (tmp_path / "others").write_bytes(content(os.path.join(release, "SHA256SUMS")) + b"\n")
    assert subprocess.run([*verify, tmp_path / "others"], capture_output=True).returncode != 0


# On a machine whose /usr/local is empty. Of the wheel no other packages are fetched.
PAGE = """
mount -t tmpfs tmpfs /usr/local
sudo() { "$@"; }
gpg --quiet --import "$KEY"
COMMANDS
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has mounts of its own")
@pytest.mark.parametrize("heading, block, then", [("Verify", 0, "true"), ("Any directory", 0, "true"), ("Any directory", 1, "/usr/local/bin/tfilefs --version"),
                                                  ("Python", 0, "true")])
def test_commands_of_the_page_do_it(release, tmp_path, heading, block, then):
    """docs/installing.md, where the files of the release are."""
    home = tempfile.mkdtemp(prefix="gpg-")
    os.mkdir(tmp_path / "work")
    for name in os.listdir(release):
        os.symlink(os.path.join(release, name), tmp_path / "work" / name)
    script = PAGE.replace("COMMANDS", f"{package_life.commands(heading)[block]}{then}")
    try:
        done = subprocess.run(["unshare", "--mount", "sh", "-ec", script], cwd=tmp_path / "work", capture_output=True, text=True, timeout=300,
                              env=dict(os.environ, GNUPGHOME=home, KEY=f"{release}.key", PIP_NO_DEPS="1"))
    finally:
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"])
        shutil.rmtree(home, ignore_errors=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Good signature" in done.stderr if heading == "Verify" else done.stdout.endswith(f"tfilefs {cached('CMAKE_PROJECT_VERSION')}\n")


def test_notes_are_what_the_changes_of_the_version_are(release):
    """Those of another version do not belong to them."""
    notes = content(only(release, r".*-notes\.md")).decode()
    changes = subprocess.run(["git", "-C", ROOT, "show", "HEAD:CHANGELOG.md"], capture_output=True, text=True, check=True).stdout
    assert notes.startswith("### Added\n\n- ") and notes in changes and "\n## " not in notes
    before, after = changes.split(notes)
    assert re.fullmatch(r"## \S+ - \S+", before.rstrip().splitlines()[-1]) and (not after or after.startswith("## "))


def test_a_version_without_changes_is_refused(tmp_path):
    """Before anything is made."""
    checkout, out = tmp_path / "checkout", tmp_path / "out"
    git = ["git", "-C", checkout, "-c", "user.name=nobody", "-c", "user.email=nobody@tfilefs.invalid"]
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", checkout], check=True)
    page = checkout / "CHANGELOG.md"
    page.write_text(re.sub(r"^## .*", "## Unreleased", page.read_text(), flags=re.MULTILINE))
    subprocess.run([*git, "commit", "--quiet", "--all", "--message", "none"], check=True)
    done = subprocess.run([checkout / "packaging" / "release", "--build", build_directory(), out], capture_output=True, text=True)
    assert done.returncode == 1 and "CHANGELOG.md has no section" in done.stderr and os.listdir(out) == []


def test_two_checkouts_give_the_same_bytes(release, tmp_path):
    """Of the same build."""
    subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, tmp_path / "elsewhere"], check=True)
    again = tmp_path / "again"
    make_release(tmp_path / "elsewhere", again)
    assert sorted([*os.listdir(again), "SHA256SUMS.asc"]) == sorted(os.listdir(release))
    different = [name for name in os.listdir(again) if content(again / name) != content(os.path.join(release, name))]
    assert not different


def test_a_tool_that_is_missing_is_named_before_anything_is_built(tmp_path):
    """It was missed after twenty minutes of building."""
    if shutil.which("gcc-12") is None:
        pytest.skip("needs gcc-12")
    (tmp_path / "bin").mkdir()
    for name in os.listdir("/usr/bin"):
        if name != "nasm":
            (tmp_path / "bin" / name).symlink_to(f"/usr/bin/{name}")
    environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "TFILEFS_PORTABLE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([os.path.join(ROOT, "packaging", "portable", "libraries"), "x86_64"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "libraries: there is no nasm: packaging/install-deps portable\n"


def test_portable_programs_need_a_build_beside_them(tmp_path):
    """Else what was given and what is built would be the same files."""
    done = subprocess.run([os.path.join(ROOT, "packaging", "release"), "--portable", tmp_path, tmp_path / "release"], capture_output=True,
                          text=True)
    assert done.returncode == 2 and "--build BUILD" in done.stderr and not (tmp_path / "release").exists()


def test_a_directory_with_something_in_it_is_refused(release):
    done = subprocess.run([os.path.join(ROOT, "packaging", "release"), "--build", build_directory(), release], capture_output=True, text=True)
    assert done.returncode == 1 and "not empty" in done.stderr


def test_the_archive_of_the_program_runs(release, sample, tmp_path):
    with tarfile.open(only(release, r"tfilefs-.*-linux-.*\.tar\.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    [top] = os.listdir(tmp_path)
    done = subprocess.run([tmp_path / top / "bin" / "tfilefs", "ls", sample], capture_output=True, text=True)
    assert done.returncode == 0 and "Events" in done.stdout


@pytest.fixture(scope="module")
def sources(release, tmp_path_factory):
    directory = tmp_path_factory.mktemp("sources")
    with tarfile.open(only(release, r"tfilefs-[\d.]+\.tar\.gz")) as archive:
        archive.extractall(directory, filter="data")
    [top] = os.listdir(directory)
    return directory / top


def test_the_archive_of_the_sources_is_what_git_has(sources):
    names = subprocess.run(["git", "-C", ROOT, "ls-tree", "-r", "--name-only", "-z", "HEAD"], capture_output=True, text=True).stdout.split("\0")
    found = {os.path.relpath(os.path.join(folder, name), sources) for folder, _, inside in os.walk(sources) for name in inside}
    assert found == {name for name in names if name} | {".commit", "REUSE.toml", "LICENSES/Apache-2.0.txt"}


def test_the_archive_of_the_sources_knows_its_commit(sources, tmp_path):
    commit = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%H %cs"], capture_output=True, text=True, check=True).stdout.split()
    told = (sources / ".commit").read_text().split()
    assert commit[0].startswith(told[0]) and told[1] == commit[1]
    # Nothing is compiled: what CMake hands to the compiler is enough.
    subprocess.run(["cmake", "-G", "Ninja", "-S", sources, "-B", tmp_path, "-DTFILEFS_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
    assert f'TFILEFS_COMMIT=\\"{told[0]}\\"' in (tmp_path / "build.ninja").read_text()


def test_each_file_says_whose_it_is_and_under_which_licence(sources):
    done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "reuse"), "--root", sources, "lint"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_list_of_parts_names_libraries_and_files(release):
    document = json.loads(content(only(release, r".*\.spdx\.json")))
    assert document["spdxVersion"] == "SPDX-2.3" and document["SPDXID"] == "SPDXRef-DOCUMENT" and document["dataLicense"] == "CC0-1.0"
    identities = [each["SPDXID"] for each in document["packages"] + document["files"]] + ["SPDXRef-DOCUMENT"]
    assert len(identities) == len(set(identities)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in identities)
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(identities)
    names = {each["name"] for each in document["packages"]}
    assert {"tfilefs", "libfuse3-3", "libzstd1", "libdeflate0", "libisal2", "libboost-math-dev"} <= names
    for each in document["files"]:
        [checksum] = [each["checksumValue"] for each in each["checksums"] if each["algorithm"] == "SHA256"]
        assert hashlib.sha256(content(os.path.join(release, each["fileName"]))).hexdigest() == checksum


def test_forms_for_reports_are_whole():
    folder = os.path.join(ROOT, ".github", "ISSUE_TEMPLATE")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            form = yaml.safe_load(file)
        if name != "config.yml":
            assert form["name"] and form["description"] and form["body"], name
            for part in form["body"]:
                assert part["type"] in ("markdown", "textarea", "input", "dropdown", "checkboxes"), name
    with open(os.path.join(ROOT, "CITATION.cff"), encoding="utf-8") as file:
        citation = yaml.safe_load(file)
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
