# SPDX-License-Identifier: Apache-2.0
"""Headers of a file's classes compile, alone and all together, and ROOT reads the file back with them."""

import glob
import json
import os
import subprocess

import pytest
import ROOT

import mounted_table
import root_process

CORPUS = os.environ.get("TFILEFS_CORPUS")
INCLUDE = os.path.join(os.path.dirname(ROOT.__file__), "include")


def compile_text(text, directory, standard="c++17"):
    source = os.path.join(directory, "all.cpp")
    with open(source, "w") as out:
        out.write(text)
    result = subprocess.run(["g++", f"-std={standard}", "-fsyntax-only", "-w", "-I", INCLUDE, "-I", directory, source],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:3000]


def headers_of(program, file, directory):
    result = subprocess.run([program, "classes", file, directory], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return sorted(name for name in os.listdir(directory) if name.endswith(".h"))


@pytest.mark.parametrize("sample", ["event-99-101", "shelf-0-101", "pointers-0-101"])
def test_each_header_compiles_alone(samples, program, tmp_path, sample):
    """And all together, in a newer standard."""
    names = headers_of(program, os.path.join(samples(sample.split("-")[0]), sample + ".root"), str(tmp_path))
    assert names
    for name in names:
        compile_text(f'#include "{name}"\n', str(tmp_path))
    compile_text("".join(f'#include "{name}"\n' for name in names), str(tmp_path), "c++20")


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS, reason="TFILEFS_CORPUS names no corpus of real files")
def test_all_headers_of_each_real_file_compile(program, tmp_path):
    failures, headers = {}, 0
    for file in sorted(glob.glob(os.path.join(CORPUS, "files", "*.root"))):
        directory = str(tmp_path / os.path.basename(file))
        if subprocess.run([program, "classes", file, directory], capture_output=True).returncode:
            continue  # refused as a whole: other tests check that this is justified
        names = sorted(os.listdir(directory))
        headers += len(names)
        try:
            if names:
                compile_text("".join(f'#include "{name}"\n' for name in names), directory)
        except AssertionError as error:
            failures[os.path.basename(file)] = str(error)[:500]
    assert not failures, f"{len(failures)} files:\n" + "\n".join(f"{name}: {why}" for name, why in failures.items())
    assert headers > 1000


def test_the_mount_shows_the_same(samples, program, shared_mount, tmp_path):
    directory = samples("event")
    names = headers_of(program, os.path.join(directory, "event-99-101.root"), str(tmp_path))
    top = os.path.join(shared_mount(directory).path, "event-99-101.root")
    assert sorted(os.listdir(os.path.join(top, ".classes"))) == names
    for name in names:
        with open(os.path.join(tmp_path, name), "rb") as file:
            assert mounted_table.read_exactly(os.path.join(top, ".classes", name)) == file.read()
    assert ".classes" not in os.listdir(top)


def test_streamer_info_is_what_root_reads(samples, shared_mount):
    directory = samples("event")
    path = os.path.join(directory, "event-99-101.root")
    text = mounted_table.read_exactly(os.path.join(shared_mount(directory).path, "event-99-101.root", ".streamerinfo.json"))
    mine = {(one["name"], one["version"]): one for one in json.loads(text)["classes"]}
    file = ROOT.TFile.Open(path)
    theirs = [info for info in file.GetStreamerInfoList() if info.ClassName() == "TStreamerInfo"]
    assert len(theirs) == len(mine) > 5
    for info in theirs:
        one = mine[str(info.GetName()), info.GetClassVersion()]
        assert one["checksum"] == info.GetCheckSum()
        elements = list(info.GetElements())
        assert [e["fName"] for e in one["elements"]] == [str(e.GetName()) for e in elements]
        assert [e["fTypeName"] for e in one["elements"]] == [str(e.GetTypeName()) for e in elements]
        assert [e["kind"] for e in one["elements"]] == [str(e.ClassName()) for e in elements]


READ_BACK = r"""
import sys, ROOT
directory, path = sys.argv[1:]
ROOT.gInterpreter.AddIncludePath(directory)
assert ROOT.gInterpreter.Declare('#include "Event.h"\n#include "Particle.h"')
file = ROOT.TFile.Open(path)
tree = file.Get("t")
# Collections without a dictionary would need one, as with TFile::MakeProject.
tree.SetBranchStatus("*", False)
for name in ("m_int", "m_double", "base_id", "a", "m_pod*", "m_vint", "m_string", "m_vfloat", "m_count", "m_dynamic"):
    tree.SetBranchStatus(name, True)
event = ROOT.Event()
tree.SetBranchAddress("event", event)
for i in range(tree.GetEntries()):
    tree.GetEntry(i)
    print(event.m_int, event.m_double, event.base_id, event.m_pod.a, list(event.m_vint), str(event.m_string).encode("latin1").hex(),
          [event.m_dynamic[k] for k in range(event.m_count)])
"""


def test_root_reads_the_file_through_them(samples, program, shared_mount, tmp_path):
    directory = samples("event")
    path = os.path.join(directory, "event-99-101.root")
    headers_of(program, path, str(tmp_path))
    result = root_process.run_code(READ_BACK, tmp_path, path, cwd=tmp_path, timeout=300)
    assert result.returncode == 0, result.stderr[-3000:]
    with open(os.path.join(directory, "event-99-101.txt")) as literal:
        oracle = eval(literal.read(), {"nan": float("nan"), "inf": float("inf")})["event"]
    lines = result.stdout.splitlines()[-len(oracle):]
    for line, event in zip(lines, oracle):
        base = event.get("Base", event)["base_id"]
        expected = f"{event['m_int']} {event['m_double']} {base} {event['m_pod']['a']} {event['m_vint']} {event['m_string'].hex()} {event['m_dynamic']}"
        assert line == expected
