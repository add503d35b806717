# SPDX-License-Identifier: Apache-2.0
"""-o metrics=FILE: the page of metrics in a file, as long as the mount is there."""

import os
import stat
import subprocess

import pytest

import metrics_page
import mounted


@pytest.fixture
def source(samples):
    return os.path.join(samples("numbers"), "numbers-big-baskets.root")


def labels_of(page):
    return {(labels["mount"], labels["source"]) for _, labels, _ in metrics_page.samples(page)}


@pytest.mark.fast
def test_the_page_is_there_until_the_mount_ends(source, tmp_path):
    page = tmp_path / "tfilefs-run.prom"
    m = mounted.Mounted(source, (f"metrics={page}",))
    mounted.wait_until(page.exists)
    text = page.read_text()
    assert text.endswith("\n") and labels_of(text) == {(m.path, source)}
    names = lambda text: {name for name, *_ in metrics_page.samples(text)}
    assert names(text) <= names(metrics_page.of_mount(m.path))
    assert stat.S_IMODE(page.stat().st_mode) == 0o644
    assert m.close() == 0
    assert os.listdir(tmp_path) == []


def test_a_name_is_looked_at_where_the_program_was_started(program, source, tmp_path):
    """Of a mount in the background, which goes to another directory."""
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    subprocess.run([program, "-o", "metrics=run.prom", source, mnt], cwd=tmp_path, check=True, capture_output=True)
    try:
        mounted.wait_until((tmp_path / "run.prom").exists)
        assert labels_of((tmp_path / "run.prom").read_text()) == {(str(mnt), source)}
    finally:
        assert subprocess.run([program, "umount", mnt]).returncode == 0
    mounted.wait_until(lambda: not (tmp_path / "run.prom").exists())


def test_a_file_that_cannot_be_written_is_told_once_and_ends_nothing(mount, source, tmp_path):
    page = tmp_path / "later" / "run.prom"
    m = mount(source, f"metrics={page}")
    mounted.wait_until(lambda: str(page) in m.errors())
    assert m.errors().count(str(page)) == 1 and "[" not in m.errors()
    mounted.wait_until(lambda: str(page) in m.messages())
    assert os.listdir(m.path) and m.messages().count(str(page)) == 1
    page.parent.mkdir()
    mounted.wait_until(page.exists, 30)  # the next one comes 15 seconds later
    assert m.errors().count(str(page)) == 1


def test_the_page_of_a_mount_that_was_killed_stays(source, tmp_path):
    """Its age is what tells."""
    page = tmp_path / "run.prom"
    m = mounted.Mounted(source, (f"metrics={page}",))
    mounted.wait_until(page.exists)
    m.process.kill()
    m.process.wait()
    m.close()
    assert labels_of(page.read_text()) == {(m.path, source)}


def test_a_mount_that_begins_where_another_ends_keeps_its_page(mount, source, tmp_path):
    page = tmp_path / "run.prom"
    first = mounted.Mounted(source, (f"metrics={page}",))
    mounted.wait_until(page.exists)
    second = mount(source, f"metrics={page}")
    mounted.wait_until(lambda: labels_of(page.read_text()) == {(second.path, source)})
    assert first.close() == 0
    assert labels_of(page.read_text()) == {(second.path, source)}


@pytest.mark.parametrize("what", ["source", "text", "pipe", "directory", "link"])
def test_what_is_there_and_is_no_page_is_refused_and_stays(program, samples, tmp_path, what):
    """FILE in the place of SOURCE, say: the run would be gone."""
    source, page, mnt = tmp_path / "run.root", tmp_path / "page", tmp_path / "mnt"
    source.write_bytes(b"".join(open(os.path.join(samples("numbers"), "numbers-big-baskets.root"), "rb")))
    mnt.mkdir()
    make = {"source": lambda: page.hardlink_to(source), "text": lambda: page.write_text("mine\n"), "pipe": lambda: os.mkfifo(page),
            "directory": page.mkdir, "link": lambda: page.symlink_to("run.root")}
    make[what]()
    before = os.lstat(page), source.read_bytes()
    done = subprocess.run([program, "-o", f"metrics={page}", source, mnt], capture_output=True, text=True)
    named = source if what == "link" else page
    assert done.returncode == 1 and str(named) in done.stderr and not os.path.ismount(mnt), done.stderr
    after = os.lstat(page)
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before[0].st_ino, before[0].st_mode, before[0].st_mtime_ns)
    assert source.read_bytes() == before[1]


def test_no_file_is_no_name(program, source, tmp_path):
    done = subprocess.run([program, "-o", "metrics=", source, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2 and "metrics=" in done.stderr
