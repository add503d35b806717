# SPDX-License-Identifier: Apache-2.0
"""The machine stops while the daemon writes: ext4 in a loop device, whose backing file is copied at that time. A mount
of the copy recovers ext4's journal, and then a mount of tfilefs its own journal."""

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

import campaign
import checker
import mounted
import stories
import writing

COLUMNS = ("px", "hits")
STEP = 200  # entries per commit


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class Disk:
    """A mounted ext4 in a file."""

    def __init__(self, image, mount_point, make=True):
        self.image, self.path = image, mount_point
        os.makedirs(mount_point, exist_ok=True)
        if make:
            with open(image, "wb") as file:
                file.truncate(48 << 20)
            made = run("mkfs.ext4", "-q", "-F", image)
            if made.returncode != 0:
                pytest.skip(f"NO POWER CUTS: mkfs.ext4: {made.stderr.strip()}")
        mounted = run("mount", "-o", "loop", image, mount_point)
        if mounted.returncode != 0:
            if make:
                pytest.skip(f"NO POWER CUTS: no loop device can be mounted: {mounted.stderr.strip()}")
            raise RuntimeError(mounted.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run("umount", self.path)


def copy_at_one_instant(source, target, daemon):
    """Copies the backing file while the daemon is stopped, until two copies are equal, since the kernel may still be
    writing."""
    mounted.stop_threads(daemon.process.pid)
    try:
        for _ in range(20):
            run("cp", "--sparse=always", source, target)
            run("cp", "--sparse=always", source, target + ".again")
            same = run("cmp", target, target + ".again").returncode == 0
            os.unlink(target + ".again")
            if same:
                return True
        return False
    finally:
        daemon.process.send_signal(signal.SIGCONT)


class Writer:
    """Appends and commits until it is stopped; `begun` and `promised` are numbers of entries.

    It is a process, not a thread: while the daemon is stopped, a child of a process with open files of the mount would
    hang when it closes them."""

    def __init__(self, daemon):
        context = multiprocessing.get_context("spawn")
        self._begun, self._promised, self._stop = context.Value("q", 0), context.Value("q", 0), context.Event()
        table = os.path.join(daemon.path, stories.FILE, "Events")
        self._process = context.Process(target=append_until, args=(table, self._begun, self._promised, self._stop),
                                        daemon=True)
        self._process.start()

    begun = property(lambda self: self._begun.value)
    promised = property(lambda self: self._promised.value)

    def stop(self):
        """Its exit status; None if it hangs."""
        self._stop.set()
        self._process.join(writing.DEADLINE)
        if self._process.is_alive():
            self._process.kill()
            return None
        return self._process.exitcode


def append_until(table, begun, promised, stop):
    while not stop.is_set():
        begun.value += STEP
        writing.write_table(table, promised.value, begun.value, COLUMNS)
        mounted.fsync(table)
        promised.value = begun.value


def check_cut(image, base, promised, begun, reader):
    """Checks the copy as the next boot finds it: without, and after, a mount of tfilefs."""
    table = writing.table(range(promised, begun + 1), COLUMNS)
    states = [checker.State({"Events": table})]
    if promised == 0:  # if the writer is delayed, the timer may commit between the file and its first table
        states += [checker.State(None), checker.State({})]
    with Disk(image, os.path.join(base, "after"), make=False) as disk:
        files = os.path.join(disk.path, "files")
        file = os.path.join(files, stories.FILE)
        wrong = checker.check_file(reader, file, states)
        with writing.Daemon(files) as daemon:
            daemon.unmount()  # staged data may be incomplete
        return wrong + checker.check_file(reader, file, states, append=True)


def test_power_cuts(reader, tmp_path):
    generator = random.Random(campaign.SEED)
    wrong, cuts, torn = [], 0, 0
    with Disk(str(tmp_path / "disk"), str(tmp_path / "before")) as disk:
        source = os.path.join(disk.path, "files")
        while cuts < campaign.LENGTH["cuts"]:
            shutil.rmtree(source, ignore_errors=True)
            os.mkdir(source)
            mounted.fsync(disk.path)
            with writing.Daemon(source) as daemon:
                writer = Writer(daemon)
                for _ in range(5):
                    time.sleep(generator.uniform(0.02, 0.4))
                    promised, image = writer.promised, str(tmp_path / "cut")
                    if not copy_at_one_instant(disk.image, image, daemon):
                        torn += 1
                        continue
                    begun = writer.begun
                    found = check_cut(image, str(tmp_path), promised, begun, reader)
                    cuts += 1
                    if found:
                        wrong.append((promised, begun, found))
                assert writer.stop() == 0, "the writer failed, or hangs"
                daemon.unmount()
    campaign.report(f"power cuts: {cuts}, {len(wrong)} wrong, {torn} copies given up")
    assert wrong == [], f"seed {campaign.SEED}: {wrong}"
