# SPDX-License-Identifier: Apache-2.0
"""Symbolic links to ROOT files where names are changed: each call does to the link what it does to one on any file
system, and what is done through it is done to the file."""

import errno
import os
import subprocess

import numpy as np
import pytest

import mounted
from staged_values import OPTIONS, VALUES, make_file, stage, tables
from test_names_change import refused
from test_replaced_names import EXCHANGE, rename2


@pytest.fixture
def links(tmp_path):
    """A mount, and its source: ROOT files and links to them."""
    source = tmp_path / "source"
    for name in ("x.root", "y.root"):
        make_file(source, name)
    (source / "dir").mkdir()
    (source / "plain").write_text("plain")
    os.symlink("y.root", source / "link.root")
    os.symlink("../y.root", source / "dir" / "up.root")
    os.symlink(source / "y.root", source / "dir" / "whole.root")
    with mounted.Mounted(source, OPTIONS) as m:
        yield m, source
        assert m.errors() == ""
    assert tables(source / "x.root") == {"T": VALUES.tolist()}


def at(m, *names):
    return os.path.join(m.path, *names)


@pytest.mark.parametrize("link", ["link.root", "dir/up.root", "dir/whole.root"])
def test_a_link_leads_to_its_file(links, link):
    m, source = links
    path = at(m, link)
    text = "y.root" if link == "link.root" else "../y.root"
    assert os.readlink(path) == text and os.lstat(path).st_size == len(text) and os.path.islink(path)
    assert os.path.realpath(path) == os.path.realpath(at(m, "y.root")) and os.listdir(path) == ["T"]
    stage(os.path.join(path, "U"))
    mounted.fsync(path)
    assert sorted(tables(source / "y.root")) == ["T", "U"]
    os.chmod(path, 0o600)
    assert os.stat(source / "y.root").st_mode & 0o777 == 0o600


@pytest.mark.parametrize("command", ["rm LINK", "rm -r LINK", "unlink LINK"])
def test_a_link_is_removed_and_its_file_is_not(links, command):
    m, source = links
    assert refused(os.rmdir, at(m, "link.root")) == errno.ENOTDIR
    subprocess.run(command.replace("LINK", at(m, "link.root")).split(), check=True)
    assert not os.path.lexists(source / "link.root") and tables(source / "y.root") == {"T": VALUES.tolist()}


def test_a_link_is_replaced_and_replaces(links):
    m, source = links
    subprocess.run(["ln", "-sfn", "x.root", at(m, "link.root")], check=True)
    assert os.readlink(source / "link.root") == "x.root" and os.path.samefile(at(m, "link.root"), at(m, "x.root"))
    os.rename(at(m, "plain"), at(m, "link.root"))
    assert (source / "link.root").read_text() == "plain" == open(at(m, "link.root")).read()
    os.rename(at(m, "dir", "up.root"), at(m, "link.root"))
    assert os.readlink(source / "link.root") == "../y.root"
    os.rename(at(m, "dir", "whole.root"), at(m, "free.root"))
    assert os.readlink(source / "free.root") == str(source / "y.root") and os.readlink(at(m, "free.root")) == "y.root"
    assert np.fromfile(at(m, "free.root", "T", "x.i4"), "<i4").tolist() == VALUES.tolist()
    assert os.listdir(source / "dir") == []


def test_what_is_no_link_does_not_take_its_name(links):
    """A ROOT file is a directory, which replaces no link, and which no link replaces."""
    m, source = links
    assert refused(os.rename, at(m, "x.root"), at(m, "link.root")) == errno.ENOTDIR
    assert refused(os.rename, at(m, "link.root"), at(m, "x.root")) == errno.EISDIR
    assert refused(os.symlink, "x.root", at(m, "link.root")) == errno.EEXIST
    assert refused(os.mkdir, at(m, "link.root")) == errno.EEXIST
    rename2(at(m, "link.root"), at(m, "x.root"), EXCHANGE)
    assert os.readlink(source / "x.root") == "y.root" and os.listdir(at(m, "link.root")) == ["T"]
    rename2(at(m, "link.root"), at(m, "x.root"), EXCHANGE)


def test_a_mount_that_only_reads_shows_the_file(links):
    _, source = links
    with mounted.Mounted(source) as m:
        for name in ("link.root", "dir/up.root", "dir/whole.root"):
            assert not os.path.islink(at(m, name)) and os.listdir(at(m, name)) == ["T"]
