# SPDX-License-Identifier: Apache-2.0
"""Files whose size takes long to compute: a request for the name does not delay others, and no wrong size is ever
shown."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
import uproot

import hostile_file
import mounted

ENTRIES = 2_250_000
VIEWS = ("t.csv", "t.jsonl")


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A table whose text takes about a second."""
    path = tmp_path_factory.mktemp("slow") / "slow.root"
    random = np.random.default_rng(1)
    with uproot.recreate(path, compression=None) as file:
        file.mktree("t", {name: "f8" for name in "abcd"})
        file["t"].extend({name: random.random(ENTRIES) for name in "abcd"})
    return path


@pytest.fixture(scope="module")
def expected(wide):
    """The last bytes and the size of each view, from a complete read."""
    with mounted.Mounted(wide) as m:
        texts = {name: open(os.path.join(m.path, name), "rb").read() for name in VIEWS}
    return {name: (len(text), text[-100:]) for name, text in texts.items()}


def start(code, *arguments):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE)


STAT = "import os, sys; print(os.stat(sys.argv[1]).st_size)"


@pytest.mark.parametrize("name", VIEWS)
def test_who_waits_for_the_same_name_can_be_killed(wide, expected, mount, name):
    m = mount(wide)
    path = os.path.join(m.path, name)
    first = start(STAT, path)
    time.sleep(0.2)
    second = start(STAT, path)
    time.sleep(0.2)
    assert first.poll() is None, "too quick to tell"
    second.kill()
    before = time.monotonic()
    second.wait(20)
    assert time.monotonic() - before < 1 and first.poll() is None
    assert int(first.communicate()[0]) == expected[name][0]
    assert os.stat(path).st_size == expected[name][0]


def test_the_first_can_be_killed_and_the_second_is_answered(wide, expected, mount):
    path = os.path.join(mount(wide).path, "t.csv")
    first, second = start(STAT, path), start(STAT, path)
    time.sleep(0.4)
    first.kill()
    first.wait(1)
    assert int(second.communicate()[0]) == expected["t.csv"][0]


def test_other_names_are_not_kept(wide, mount):
    m = mount(wide)
    first = start(STAT, os.path.join(m.path, "t.csv"))
    time.sleep(0.3)
    before = time.monotonic()
    assert os.stat(os.path.join(m.path, "t", "a.f8")).st_size == 8 * ENTRIES
    assert time.monotonic() - before < 0.5 and first.poll() is None
    first.communicate()


# Each reads the file in its own way, most without ever asking for its size.
READERS = {
    "stat": "print(os.stat(path).st_size)",
    "ls": "print(subprocess.run(['ls', '-l', path], capture_output=True, text=True).stdout.split()[4])",
    "wc": "print(subprocess.run(['wc', '-c', path], capture_output=True, text=True).stdout.split()[0])",
    "cp": "subprocess.run(['cp', path, sys.argv[4]], check=True); print(os.path.getsize(sys.argv[4]))",
    "seek": "print(os.lseek(os.open(path, os.O_RDONLY), 0, os.SEEK_END))",
    "read": "f = os.open(path, os.O_RDONLY); os.lseek(f, size - 100, 0); print(size - 100 + len(os.read(f, 1000)))",
    "fstat": "print(os.fstat(os.open(path, os.O_RDONLY)).st_size)",
    "sendfile": "f = os.open(path, os.O_RDONLY); o = os.open(sys.argv[4], os.O_WRONLY | os.O_CREAT); n = 0\n"
                "while k := os.sendfile(o, f, n, 1 << 24): n += k\n"
                "print(n)",
    "splice": "f = os.open(path, os.O_RDONLY); r, w = os.pipe()\n"
              "print(size - 50 + os.splice(f, w, 50, offset_src=size - 50))",
    "map": "f = os.open(path, os.O_RDONLY); libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p\n"
           "at = libc.mmap(None, ctypes.c_size_t(size), 1, 2, f, ctypes.c_long(0))\n"
           "end = ctypes.string_at(at + size - 100, 100)\n"
           "print(size if end == eval(sys.argv[3]) else end)",
    "by its descriptor": "f = os.open(path, os.O_PATH); print(os.fstat(os.open(f'/proc/self/fd/{f}', os.O_RDONLY)).st_size)",
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_meets_the_right_size(wide, expected, mount, tmp_path, reader):
    size, end = expected["t.csv"]
    path = os.path.join(mount(wide).path, "t.csv")
    code = "import ctypes, os, subprocess, sys\npath, size = sys.argv[1], int(sys.argv[2])\nname = os.path.basename(path)\n"
    code += READERS[reader]
    readers = [start(code, path, size, repr(end), tmp_path / str(i)) for i in range(2)]
    for one in readers:
        told = one.communicate(timeout=120)[0].decode().strip().strip("[]")
        assert one.returncode == 0 and told == str(size)


def test_what_cannot_be_made_is_an_error_of_stat_and_open(wide, mount, tmp_path):
    """Even if that is found late."""
    damaged = tmp_path / "damaged.root"
    with uproot.open(wide) as file:
        baskets = file["t"]["d"].member("fBasketSeek")
        place = int(baskets[file["t"]["d"].num_baskets - 1])
    data = bytearray(wide.read_bytes())
    data[place : place + 18] = b"\xff" * 18
    hostile_file.write(damaged, data)
    m = mount(damaged)
    for _ in range(2):
        with pytest.raises(OSError):
            os.stat(os.path.join(m.path, "t.csv"))
        with pytest.raises(OSError):
            os.open(os.path.join(m.path, "t.csv"), os.O_RDONLY)


@pytest.fixture(scope="module")
def work(wide):
    """The CPU time to find the size of a view."""
    with mounted.Mounted(wide) as m:
        before = m.idle_ticks()
        os.stat(os.path.join(m.path, "t.jsonl"))
        return m.idle_ticks() - before


@pytest.mark.parametrize("look", (STAT, "import sys; open(sys.argv[1], 'rb').close()"), ids=("stat", "open"))
def test_what_nobody_waits_for_is_given_up(wide, work, mount, look):
    assert work > 40
    m = mount(wide)
    before = m.idle_ticks()
    first = start(look, os.path.join(m.path, "t.jsonl"))
    while m.ticks() < before + 5:
        assert first.poll() is None
    first.kill()
    first.wait(1)
    assert m.idle_ticks() - before < 0.75 * work
