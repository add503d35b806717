# SPDX-License-Identifier: Apache-2.0
"""`tfilefs serve`, mounted by davfs2 as docs/serve.md says."""

import contextlib
import glob
import os
import re
import shutil
import subprocess

import awkward as ak
import numpy as np
import pytest
import uproot

from test_serve import Served

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "serve.md")

pytestmark = pytest.mark.skipif(not shutil.which("mount.davfs") or os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK),
                                reason="needs davfs2, root and /dev/fuse")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "e.root"
    with uproot.recreate(path) as file:
        file["T"] = {"x": np.arange(1000, dtype="f4"), "list": ak.Array([[1.5] * (i % 4) for i in range(1000)])}
        for name in ("h é 100%", "a#b?c&<d>"):
            file[name] = np.histogram(np.arange(100), bins=10)
    return str(path)


@contextlib.contextmanager
def mounted(served, directory):
    """With the option that the page names."""
    with open(PAGE, encoding="utf-8") as page:
        [option] = set(re.findall(r"`(buf_size \d+)`", page.read()))
    place, config, secrets = directory / "dav", directory / "davfs2.conf", directory / "secrets"
    place.mkdir()
    config.write_text(f"{option}\nuse_locks 0\nsecrets {secrets}\n")
    secrets.touch(0o600)
    secrets.write_text(f'"{place}" x {served.token}\n')
    subprocess.run(["mount.davfs", "-o", f"conf={config},ro", served.origin + "/", place], check=True, stdin=subprocess.DEVNULL, timeout=60)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True, timeout=60, stdout=subprocess.DEVNULL)
        for kept in glob.glob(f"/var/cache/davfs2/*{glob.escape(str(place)[1:].replace('/', '-'))}+*"):
            shutil.rmtree(kept)


def test_names_sizes_and_bytes_are_those_of_the_file(program, source, tmp_path):
    subprocess.run([program, "cp", "-r", "-q", source + "/*", tmp_path], check=True)
    with Served(program, source) as served, mounted(served, tmp_path) as place:
        found = {os.path.relpath(os.path.join(top, name), place): os.path.join(top, name) for top, _, names in os.walk(place) for name in names}
        assert {"T/x.f4", "T/list/offsets.i8", "T/list/values.f8", "h é 100%/values.f8", "a#b?c&<d>/values.f8"} <= set(found)
        for name, path in found.items():
            with open(path, "rb") as file, open(tmp_path / name, "rb") as copied:
                told, read = os.stat(path).st_size, file.read()
                assert read == copied.read() and told == len(read), name
        assert sorted(os.listdir(place / "T")) == ["list", "x.f4"]


def test_views_are_there_where_they_are_listed(program, source, tmp_path):
    with Served(program, source, "-o", "views=listed") as served, mounted(served, tmp_path) as place:
        assert (place / "T.csv").read_text().splitlines()[0] == '"x"'  # a list of numbers is no cell
