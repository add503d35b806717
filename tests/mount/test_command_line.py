# SPDX-License-Identifier: Apache-2.0
"""What people type: trees of files, JSON of every command, several files, wrong names, examples of the help, progress."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

import pytest

import mounted
from on_a_terminal import on_a_terminal

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("command line") / "data.root"
    subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "make-sample.py"), path], check=True)
    return str(path)


@pytest.fixture
def tfilefs(program):
    def run(*arguments, **more):
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)

    return run


def cells(line):
    return re.split(r" {2,}", line.strip())


def test_a_file_is_listed_as_a_tree(tfilefs, sample):
    done = tfilefs("ls", sample)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    name, kind, entries, size, title = cells(lines[0])
    assert (name, kind, entries, title) == ("Events", "TTree", "100000 entries", "Events of a made-up run")
    assert re.fullmatch(r"[\d.]+ MB", size)
    assert [line.split()[0] for line in lines[1:]] == [
        "calorimeter/", "layer0/", "hits", "layer1/", "hits", "layer2/", "hits", "occupancy",
        "tracker/", "layer0/", "hits", "layer1/", "hits", "layer2/", "hits", "occupancy"]
    assert lines[2].startswith("  layer0/") and lines[3].startswith("    hits") and cells(lines[3])[1] == "TH1D"


def test_a_table_is_listed_with_types(tfilefs, sample):
    lines = [cells(line) for line in tfilefs("ls", sample + "/Events").stdout.splitlines()]
    types = {line[0]: line[1] for line in lines}
    assert types == {"Muon_pt": "list of float32", "energy.f4": "float32", "nMuon_pt.i4": "int32", "position.f8x3": "float64[3]",
                     "run.i4": "int32", "trigger": "string"}
    whole = tfilefs("ls", "-R", sample).stdout
    assert "\n  Muon_pt " in whole and "\n    values.f4 " in whole


def test_names_alone(tfilefs, sample):
    assert tfilefs("ls", "-1", sample).stdout == "Events\ncalorimeter\ntracker\n"
    both = tfilefs("ls", "-1", sample, sample + ":tracker/layer0")
    assert both.stdout == f"{sample}:\nEvents\ncalorimeter\ntracker\n\n{sample}:\nhits\n"


def test_json_of_a_listing_has_types_and_entries(tfilefs, sample):
    top = {item["path"]: item for item in json.loads(tfilefs("ls", "--json", sample).stdout)}
    assert top["Events"]["entries"] == 100000 and top["Events"]["class"] == "TTree" and top["Events"]["stored"] > 100_000
    assert set(top) == {"Events", "calorimeter", "tracker"}
    columns = {item["path"]: item for item in json.loads(tfilefs("ls", "-R", "--json", sample + "/Events").stdout)}
    position = columns["Events/position.f8x3"]
    assert (position["dtype"], position["shape"], position["length"]) == ("<f8", [3], 100000)
    assert columns["Events/Muon_pt/values.f4"]["dtype"] == "<f4"


def test_attributes_tell_the_same_in_a_mount(mount, sample):
    top = mount(sample).path
    of = {name: os.getxattr(os.path.join(top, path), f"user.tfilefs.{name}").decode()
          for path, name in (("Events", "entries"), ("Events/Muon_pt", "type"), ("tracker/occupancy", "class"))}
    assert of == {"entries": "100000", "type": "list of float32", "class": "TH2D"}
    assert int(os.getxattr(os.path.join(top, "Events/energy"), "user.tfilefs.stored")) > 100_000


def test_info_is_a_screen(tfilefs, sample):
    done = tfilefs("info", sample)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert re.fullmatch(rf"{sample}: [\d.]+ MB, written with ROOT \d\.\d\d/\d\d, not compressed", lines[0])
    assert re.search(r"Events  TTree, 100000 entries, 6 columns, [\d.]+ MB", done.stdout)
    assert "  6 TH1D\n" in done.stdout and "  2 TH2D\n" in done.stdout
    for line in (line.strip() for line in lines[lines.index("next:") + 1 :]):
        assert line.startswith("tfilefs "), line
    told = json.loads(tfilefs("info", "--json", sample).stdout)
    assert told[0]["tables"][0]["entries"] == 100000 and told[0]["objects"] == {"TH1D": 6, "TH2D": 2}


@pytest.mark.parametrize("command", ("map", "check", "advise", "info"))
def test_json_of_files(tfilefs, sample, command):
    done = tfilefs(command, "--json", sample, sample)
    assert done.returncode == 0 and done.stderr == ""
    told = json.loads(done.stdout)
    assert isinstance(told, list) and len(told) % 2 == 0 and told
    assert all(isinstance(each, dict) for each in told)


def test_json_of_what_was_found(tfilefs, sample, tmp_path):
    shutil.copy(sample, tmp_path / "bad.root")
    with open(tmp_path / "bad.root", "r+b") as file:
        file.seek(os.path.getsize(sample) // 2)
        file.write(b"rotten" * 20)
    done = tfilefs("check", "--json", tmp_path / "bad.root")
    [told] = json.loads(done.stdout)
    assert done.returncode & 4 and told["errors"] > 0
    assert {"place", "class", "message"} <= set(told["findings"][0]) and told["findings"][0]["class"] == "error"


def test_json_of_other_commands(tfilefs, sample, mount, tmp_path):
    point = mount(sample).path
    stats = json.loads(tfilefs("stats", "--json", point).stdout)
    assert "cache" in stats
    done = tfilefs("stats", "--json", "-w", "1", point)
    assert done.returncode == 2 and "exclude" in done.stderr
    doctor = json.loads(tfilefs("doctor", "--json").stdout)
    assert {"kernel", "/dev/fuse", "mount"} <= {each["what"] for each in doctor}
    told = json.loads(tfilefs("repack", "--json", sample, tmp_path / "out.root").stdout)
    assert told["written"] and told["files"][0]["file"].endswith("out.root") and told["tables"][0]["entries"] == 100000
    drawn = tfilefs("draw", "--json", f"{sample}:Events", "energy")
    assert json.loads(drawn.stdout)["_typename"] == "TH1D", drawn.stderr


def test_a_drawing_replaces_a_file_as_a_whole(tfilefs, sample, tmp_path):
    out, root = tmp_path / "a.csv", tmp_path / "a.root"
    out.write_text("former")
    source = f"{sample}:Events"

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = subprocess.run([mounted.program(), "draw", "-q", source, "energy", "-o", out], preexec_fn=limit, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and str(out) in done.stderr, done.stderr
    assert out.read_text() == "former" and os.listdir(tmp_path) == ["a.csv"]
    assert tfilefs("draw", "-q", source, "energy", "-o", out).returncode == 0 and out.read_text().startswith("x_low")
    root.write_text("former")
    # Nothing is read before: not even the expression.
    done = tfilefs("draw", "-q", source, "no such expression", "-o", root)
    assert done.returncode == 1 and done.stderr == f"tfilefs: {root}: already exists\n"


@pytest.mark.parametrize("flags, why", [
    (["--bins", "10,20"], "bins of 2 axes: there is 1"),
    (["--range", "0:1,0:2"], "ranges of 2 axes: there is 1"),
    (["--bins", "12000000"], "numbers of bins up to 10,000,000"),
    (["--define", "a=1", "--define", "a=2"], "--define a: given twice"),
])
def test_what_would_be_ignored_is_refused(tfilefs, sample, flags, why):
    done = tfilefs("draw", "-q", f"{sample}:Events", "energy", *flags)
    assert done.returncode != 0 and why in done.stderr, done.stderr


@pytest.mark.parametrize("expression, is_told", [
    ("energy>>h(100,0,1)", True), ("sqrt(energy)>>hist", True), ("energy:run>>h2(10,0,1,10,0,1)", True),
    ("energy>>nothing+1", False), ("energy>>", False), ("nothing(energy)", False), ("sqrt(enrgy>>2)", False),
])
def test_a_histogram_that_is_named_as_in_root(tfilefs, sample, expression, is_told):
    done = tfilefs("draw", "-q", f"{sample}:Events", expression)
    assert done.returncode == 1
    assert ("names no histogram here: see --bins, --range and -o\n" in done.stderr) == is_told, done.stderr


def test_options_of_root_are_told_what_does_them(tfilefs, sample):
    done = tfilefs("draw", f"{sample}:Events", "energy", "energy>1", "colz")
    assert done.returncode == 2
    assert done.stderr.startswith("tfilefs: not expected: colz; what options of TTree::Draw do, --bins, --range, --profile and -o FILE do here; see ")


def test_limits_in_the_wrong_order_are_told(tfilefs, sample):
    done = tfilefs("draw", "-q", f"{sample}:Events", "energy", "--range", "1:0")
    assert done.returncode == 2 and "LO less than HI" in done.stderr


def test_ten_million_bins_are_drawn(tfilefs, sample, tmp_path):
    assert tfilefs("draw", "-q", f"{sample}:Events", "energy", "--bins", "10000000", "-o", tmp_path / "a.root").returncode == 0


def test_a_table_behind_a_slash_or_a_colon(tfilefs, sample):
    one, other = (tfilefs("draw", f"{sample}{mark}Events", "energy") for mark in ":/")
    assert one.returncode == 0 and one.stdout == other.stdout


def test_check_of_a_directory_has_a_summary(tfilefs, sample, tmp_path):
    runs = tmp_path / "runs"
    (runs / "deep").mkdir(parents=True)
    shutil.copy(sample, runs / "run10.root")
    shutil.copy(sample, runs / "run2.root")
    shutil.copy(sample, runs / "deep" / "named otherwise")
    (runs / "notes.txt").write_text("no file of ROOT")
    (runs / ".editorconfig").write_text("root = true\n\n[*]\nindent_size = 4\n")
    done = tfilefs("check", runs)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, lines[-1]) == (0, "", "3 files: 3 without errors")
    assert [line.split(": ")[0] for line in lines[:-1]] == [f"{runs}/{name}" for name in ("deep/named otherwise", "run2.root", "run10.root")]
    (runs / "empty.root").touch()
    done = tfilefs("check", "-q", runs)
    assert (done.returncode, done.stdout) == (8, "4 files: 3 without errors, 1 not checked as a whole\n")
    assert "empty.root: not a ROOT file: it is empty" in done.stderr
    done = tfilefs("check", runs / "run2.root", runs / "none.root", runs / "run10.root")
    assert done.returncode == 8 and "3 files: 2 without errors" in done.stdout


def test_a_directory_that_cannot_be_read_is_told(tfilefs, program, sample, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root reads every directory")
    (tmp_path / "closed").mkdir(mode=0)
    shutil.copy(sample, tmp_path / "a.root")
    done = tfilefs("check", tmp_path)
    assert done.returncode == 8 and "closed" in done.stderr and "no errors" in done.stdout


@pytest.mark.parametrize("path, like", (
    ("events", "Events"), ("Event/energy", "Events"), ("Events/enrgy", "energy.f4"), ("tracker/layer0/hit", "hits"), ("nonsense", None)))
@pytest.mark.parametrize("command", ("ls", "cat"))
def test_a_wrong_name_is_told_the_nearest(tfilefs, sample, command, path, like):
    done = tfilefs(command, f"{sample}/{path}")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.rstrip().endswith(f"did you mean {like}?") if like else "did you mean" not in done.stderr, done.stderr


def test_a_wrong_table_is_told_the_nearest(tfilefs, sample, tmp_path):
    done = tfilefs("draw", f"{sample}:events", "energy")
    assert done.returncode == 1 and "did you mean Events?" in done.stderr, done.stderr
    for wrong, told in (("Evenst", "Evenst: no table of that name, did you mean Events?"), ("none", "none: no table of that name; there are Events")):
        done = tfilefs("repack", "--tables", wrong, sample, tmp_path / "out.root")
        assert done.returncode == 1 and told in done.stderr and not os.listdir(tmp_path), done.stderr
    done = tfilefs("repack", "--columns", "enregy", sample, tmp_path / "out.root")
    assert "did you mean energy?" in done.stderr, done.stderr


def test_a_missing_table_is_told_which_there_are(tfilefs, sample):
    for source in (sample, f"{sample}:none"):
        done = tfilefs("draw", source, "energy")
        assert done.returncode == 1 and done.stderr.endswith("; it has Events\n"), done.stderr


@pytest.mark.parametrize("command, status", (("info", 1), ("check", 8)))
def test_a_table_where_a_file_is_wanted(tfilefs, sample, command, status):
    for mark in ":/":
        done = tfilefs(command, f"{sample}{mark}Events")
        assert done.returncode == status and done.stdout == ""
        assert f"did you mean tfilefs {command} {sample}, or tfilefs ls {sample}/Events?" in done.stderr, done.stderr
    assert "No such file" in tfilefs(command, f"{sample}none").stderr


def test_swapped_arguments_are_seen(tfilefs, sample, tmp_path):
    done = tfilefs("draw", "energy", f"{sample}:Events")
    assert done.returncode == 1 and f"did you mean tfilefs draw {sample}:Events energy?" in done.stderr, done.stderr
    for point in (tmp_path, tmp_path / "missing"):
        done = tfilefs(point, sample)
        assert done.returncode == 1 and f"did you mean tfilefs {sample} {point}?" in done.stderr
    assert not (tmp_path / "missing").exists()


def test_more_or_less_than_a_file_is_told_how_to_mount_it(tfilefs, sample, tmp_path):
    point = tmp_path / "m"
    for inside in (":Events", "/Events"):
        done = tfilefs(f"{sample}{inside}", point)
        assert done.returncode == 1 and f"did you mean tfilefs {sample} {point}?" in done.stderr, done.stderr
    done = tfilefs(tmp_path / "run*.root", point)
    assert done.returncode == 1 and "did you mean -o chain?" in done.stderr, done.stderr
    done = tfilefs(tmp_path / "none.root", point)
    assert done.returncode == 1 and "did you mean" not in done.stderr, done.stderr
    assert not point.exists()


@pytest.mark.parametrize("command", ("", "ls", "cp", "check", "umount"))
def test_help_has_no_words_of_the_parser(tfilefs, command):
    text = tfilefs(*command.split(), "--help").stdout
    assert "REQUIRED" not in text and "x)" not in text.partition("\n\n")[0] and " x 2" not in text, text


@pytest.mark.parametrize("content, told", (
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a pointer of git-lfs"),
    (b"<!DOCTYPE html>\n<title>Sign in</title>", 'an HTML page: "<!DOCTYPE html>"'),
    (b"\x1f\x8b\x08\x00", "a gzip file"),
    (b"", "it is empty"),
    (b"see \x1b[31melsewhere\n", "a text file: \"see"),
))
def test_what_is_no_root_file_is_called_what_it_is(tfilefs, tmp_path, content, told):
    if b"\x1b" in content:
        content = content.replace(b"\x1b[31m", "\u202e".encode())  # which no terminal is to get either
    (tmp_path / "a.root").write_bytes(content)
    for command in ("ls", "info", "check"):
        done = tfilefs(command, tmp_path / "a.root")
        assert told in done.stderr and "\u202e" not in done.stderr, done.stderr


def examples(tfilefs):
    """[(command, line)] of the help of each command."""
    commands = ["", *re.findall(r"^  tfilefs ([a-z]+) ", tfilefs("--help").stdout, re.MULTILINE)]
    for command in dict.fromkeys(commands):
        text = tfilefs(*command.split(), "--help").stdout
        lines = text.split("Examples:\n")[1].splitlines()
        assert lines and all(line.startswith("  ") for line in lines), command
        yield from ((command, line.strip()) for line in lines)


# Those that need a mount, a server, many files, or a browser.
NOT_RUN = {"", "umount", "commit", "recover", "browse", "serve", "stats", "completion"}


def test_examples_of_the_help_run(tfilefs, program, sample, tmp_path):
    (tmp_path / "bin").mkdir()
    os.symlink(program, tmp_path / "bin" / "tfilefs")
    shutil.copy(sample, tmp_path)
    environment = dict(os.environ, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    run = 0
    for command, line in examples(tfilefs):
        if command not in NOT_RUN:
            done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
            assert (done.returncode, done.stderr) == (0, ""), (line, done)
            run += 1
    assert run > 15


def test_progress_is_shown_on_a_terminal_only(program, sample, tmp_path):
    progress = re.compile(r"[\d.]+ [kMG]?B of [\d.]+ MB, [\d.]+ [kMG]?B/s")
    status, said = on_a_terminal([program, "check", sample])
    assert status == 0 and progress.search(said), said
    assert on_a_terminal([program, "check", "-q", sample]) == (0, "")
    status, said = on_a_terminal([program, "repack", "--compression", "zstd:5", sample, str(tmp_path / "out.root")])
    assert status == 0 and progress.search(said), said
    done = subprocess.run([program, "check", sample], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


def test_quiet_and_verbose(program, tfilefs, sample, tmp_path):
    done = tfilefs("check", "-v", sample)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "Events;1: 100000 entries, 8 columns", done.stdout
    assert done.stdout.splitlines()[1:] == tfilefs("check", sample).stdout.splitlines()
    done = tfilefs("repack", "-v", sample, tmp_path / "out.root")
    lines = done.stdout.splitlines()
    assert "tracker/layer0/hits: TH1D" in lines and "tracker/occupancy: TH2D" in lines and lines[-1].startswith(str(tmp_path))
    assert [line for line in lines if ": TH" not in line] == tfilefs("repack", "--force", sample, tmp_path / "out.root").stdout.splitlines()
    for flag in ("-q", "-v"):
        done = tfilefs(flag, sample, tmp_path / "mnt")
        subprocess.run([program, "umount", tmp_path / "mnt"], check=True)
        assert done.returncode == 0 and done.stdout == ""
        said = done.stderr.splitlines()
        assert said == [] if flag == "-q" else said[0].startswith("tfilefs: mounted") and '"memory":' in said[1], said


def test_times_have_units(tfilefs, sample, tmp_path, mount):
    m = mount(sample, "timeout=1.5min,recheck=500ms,idle=1h30m")
    with open(os.path.join(m.path, ".tfilefs", "config.json")) as file:
        config = json.load(file)
    assert (config["timeout"], config["recheck"], config["idle"]) == (90, 0.5, 5400)
    for wrong in ("timeout=5parsecs", "idle=h", "recheck=2d", "timeout=0s", "idle=-1s"):
        done = tfilefs("-o", wrong, sample, tmp_path / "mnt")
        assert done.returncode == 2 and f"option {wrong}: expected a time such as" in done.stderr, done.stderr
    done = tfilefs("stats", "-w", "1fortnight", m.path)
    assert done.returncode == 2 and "1fortnight" in done.stderr, done.stderr


def test_colours_on_a_terminal_only(program, sample):
    _, said = on_a_terminal([program, "ls", sample], "stdout", TERM="xterm", NO_COLOR="")
    assert "\x1b[1;34mEvents\x1b[0m " in said
    for environment in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb", "NO_COLOR": ""}):
        assert "\x1b" not in on_a_terminal([program, "ls", sample], "stdout", **environment)[1]
    plain = subprocess.run([program, "ls", sample], capture_output=True, text=True, timeout=60).stdout
    assert "\x1b" not in plain and re.sub("\x1b\\[[^m]*m", "", said).replace("\r", "") == plain


def test_the_line_at_a_mount_names_first_steps_on_a_terminal(program, sample, tmp_path):
    mnt = str(tmp_path / "mnt")
    status, said = on_a_terminal([program, sample, mnt])
    try:
        assert status == 0
        assert said.replace("\r", "") == (f"tfilefs: mounted; see {mnt}/.tfilefs/README\n"
                                          f"tfilefs: try head {mnt}/Events.csv, or xdg-open {mnt}/Events/index.html\n")
        assert open(f"{mnt}/Events.csv", "rb").read(5) == b'"run"' and os.stat(f"{mnt}/Events/index.html").st_size > 0
    finally:
        subprocess.run([program, "umount", mnt], check=True)
    assert mounted.is_mount_point(mnt) is False
