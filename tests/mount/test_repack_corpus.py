# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack` of each real file: copies that keep their format show what the originals show, and copies in the other
format are compared by --verify. What is left out is named, with one of the reasons below."""

import collections
import os
import random
import subprocess

import pytest

import mounted

CORPUS = os.environ.get("TFILEFS_CORPUS")
pytestmark = pytest.mark.corpus

WAYS = {"kept": [], "rntuple": ["--format", "rntuple", "--verify"]}
if os.environ.get("TFILEFS_CORPUS_ALL"):
    WAYS |= {"lz4": ["--compression", "lz4"], "cut": ["--cluster", "100K"], "ttree": ["--format", "ttree", "--verify"]}

# Files that cannot be read at all, or not whole.
DAMAGED = {
    "roottest-crashed.root": "no key could be recovered",
    "skhep-issue327.root": "column is shorter than its metadata says",
}
# Why copies that keep their format leave something out.
LEFT_OUT = ("RNTuple of an unsupported format before 1.0", "its user info: ", "No such file or directory", "are stored without offsets")


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """The directory of the copies, and what the program said, by way and name."""
    if not CORPUS:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    base, said = tmp_path_factory.mktemp("repacked"), {}
    for way, options in WAYS.items():
        (base / way).mkdir()
        for name in sorted(os.listdir(os.path.join(CORPUS, "files"))):
            if name.endswith(".root"):
                paths = [os.path.join(CORPUS, "files", name), base / way / name]
                said[way, name] = subprocess.run([mounted.program(), "repack", *options, *paths], capture_output=True, text=True,
                                                 errors="replace")
    return base, said


def differences(a, b):
    done = subprocess.run(["diff", "-rq", a, b], capture_output=True, text=True, errors="replace")
    return [line for line in (done.stdout + done.stderr).splitlines() if ".schema.json" not in line]


@pytest.mark.parametrize("way", WAYS)
def test_every_file_is_copied_or_says_why_not(copies, way):
    base, said = copies
    verdicts = collections.Counter()
    for name in [name for each, name in said if each == way]:
        done = said[way, name]
        assert done.returncode in (0, 1) and "not compared" not in done.stderr, (name, done.stderr)
        if done.returncode == 0 or all(line.startswith(("tfilefs: left out: ", "tfilefs: renamed: ")) for line in done.stderr.splitlines()):
            verdicts[done.returncode] += 1
        else:
            assert DAMAGED[name] in done.stderr and not (base / way / name).exists(), (name, done.stderr)
    assert verdicts[0] > 5 * verdicts[1], verdicts


def test_damage_of_any_bytes_ends_in_a_message(tmp_path):
    """The copy is whole, or there is none."""
    if not CORPUS:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    chance = random.Random(5)
    names = [name for name in sorted(os.listdir(os.path.join(CORPUS, "files"))) if name.endswith(".root")]
    ways = [[], ["--compression", "lz4"], ["--format", "rntuple"], ["--cluster", "10K", "--skip-damaged"]]
    verdicts = collections.Counter()
    for name in chance.sample(names, len(names) if os.environ.get("TFILEFS_CORPUS_ALL") else 60):
        data = bytearray(open(os.path.join(CORPUS, "files", name), "rb").read())
        for _ in range(chance.choice((1, 3, 30))):
            at = chance.randrange(len(data))
            data[at:at + 4] = chance.randbytes(len(data[at:at + 4]))
        (tmp_path / "bad.root").write_bytes(data)
        done = subprocess.run([mounted.program(), "repack", "--force", *chance.choice(ways), tmp_path / "bad.root", tmp_path / "out.root"],
                              capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode in (0, 1) and (done.returncode == 0 or "tfilefs: " in done.stderr), (name, done)
        assert sorted(os.listdir(tmp_path)) in (["bad.root"], ["bad.root", "out.root"]), name
        if (tmp_path / "out.root").exists():
            assert subprocess.run([mounted.program(), "ls", tmp_path / "out.root"], capture_output=True).returncode == 0, name
            os.remove(tmp_path / "out.root")
        verdicts[done.returncode] += 1
    assert min(verdicts.values()) > 5, verdicts


@pytest.mark.parametrize("way", [way for way in WAYS if "--verify" not in WAYS[way]])
def test_mounts_show_the_same(copies, way):
    base, said = copies
    different = {}
    with mounted.Mounted(os.path.join(CORPUS, "files")) as originals, mounted.Mounted(base / way) as copied:
        for name in sorted(os.listdir(base / way)):
            lines = differences(os.path.join(originals.path, name), os.path.join(copied.path, name))
            told = said[way, name].stderr.splitlines()
            if lines and not (told and all(any(why in line for why in LEFT_OUT) for line in told)):
                different[name] = lines, told
    assert not different, different
