# SPDX-License-Identifier: Apache-2.0
"""`tfilefs cat` and `tfilefs cp`: what a mount shows, without one."""

import filecmp
import os
import shutil
import signal
import stat
import subprocess

import numpy as np
import pytest
import uproot

from on_a_terminal import on_a_terminal
import mounted


@pytest.fixture
def tfilefs(program):
    def run(*arguments, text=True, **more):
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=text, timeout=120, **more)

    return run


@pytest.fixture
def directories(samples):
    return os.path.join(samples("storage"), "directories.root")


@pytest.fixture
def large(tmp_path):
    """A file with a column of 64 MB."""
    path = tmp_path / "large.root"
    with uproot.recreate(path) as file:
        file["T"] = {"x": np.arange(8_000_000, dtype=np.int64), "y": np.zeros(8_000_000, dtype=np.int8)}
    return path


def files_below(directory):
    return sorted(os.path.relpath(os.path.join(at, name), directory)
                  for at, _, names in os.walk(directory) for name in names)


def test_what_is_written_is_what_a_mount_has(tfilefs, directories, mount):
    m = mount(directories, "views=listed")
    for name in files_below(m.path):
        if name.startswith(".tfilefs") or name.endswith(".schema.json"):  # which has what is known by then
            continue
        done = tfilefs("cat", "-o", "views=listed", os.path.join(directories, name), text=False)
        with open(os.path.join(m.path, name), "rb") as file:
            assert (done.returncode, done.stdout) == (0, file.read()), name


def test_a_path_behind_a_colon_and_several_paths(tfilefs, directories):
    both = tfilefs("cat", f"{directories}:a/b/c/t/number.i4", f"{directories}/a/b/c/t/number.i4", text=False).stdout
    one = tfilefs("cat", f"{directories}/a/b/c/t/number.i4", text=False).stdout
    assert one and both == 2 * one
    assert tfilefs("ls", "-1", f"{directories}:a/b/c").stdout.split() == ["h", "t"]


def test_any_name_of_a_file_is_a_source(tfilefs, directories, tmp_path):
    one = tfilefs("cat", f"{directories}/a/b/c/t/number.i4", text=False).stdout
    for name in ("F.root.1", "a:b", "plain"):
        os.symlink(directories, tmp_path / name)
        for separator in ("/", ":"):
            done = tfilefs("cat", f"{tmp_path}/{name}{separator}a/b/c/t/number.i4", text=False)
            assert done.stdout == one, done.stderr
    assert tfilefs("cat", f"{tmp_path}/F*:a/*/c/t/num*", text=False).stdout == one


def test_only_paths_are_looked_for_in_the_home(tfilefs, directories, tmp_path):
    os.symlink(directories, tmp_path / "d.root")
    home = dict(os.environ, HOME=str(tmp_path))
    assert "t" in tfilefs("ls", "~/d.root/a/b/c", env=home).stdout.split()
    assert "~/d.root" in tfilefs("draw", "~/d.root:a/b/c/t", "~/d.root", env=home).stderr, "an expression stays as it is"


def test_patterns_take_what_is_listed(tfilefs, directories):
    one = tfilefs("cat", f"{directories}/a/b/c/t/number.i4", text=False).stdout
    assert tfilefs("cat", f"{directories}/a/*/[cd]/t/num*.i4", text=False).stdout == one
    done = tfilefs("cat", f"{directories}/a/*/nothing*")
    assert done.returncode == 1 and "nothing matches this pattern" in done.stderr


def test_a_backslash_makes_a_pattern_a_name(tfilefs, tmp_path):
    names = ("a?b", "axb", "c{d,e}", "back\\slash")
    with uproot.recreate(tmp_path / "odd.root") as file:
        file["t"] = {name: np.full(3, at, "i4") for at, name in enumerate(names)}
    for at, escaped in enumerate((r"a\?b", "axb", r"c\{d\,e\}", r"back\\slash")):
        done = tfilefs("cat", f"{tmp_path}/odd.root/t/{escaped}.i4", text=False)
        assert np.array_equal(np.frombuffer(done.stdout, "i4"), [at] * 3), (escaped, done.stderr)
    assert len(tfilefs("cat", f"{tmp_path}/odd.root/t/a?b.i4", text=False).stdout) == 2 * 12


@pytest.mark.parametrize("path, reason", (("a", "is a directory"), ("", "is a directory"), ("a/nothing", "nothing")))
def test_what_is_no_file_is_named(tfilefs, directories, path, reason):
    done = tfilefs("cat", f"{directories}/{path}" if path else directories, f"{directories}/a/b/c/t/number.i4", text=False)
    assert done.returncode == 1 and reason in done.stderr.decode() and done.stdout, "the other file is written"


def test_a_full_disk_fails(program, directories):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "cat", f"{directories}/a/b/c/t/number.i4"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and b"/number.i4: cannot write the output: No space left" in done.stderr


def test_a_file_a_directory_and_a_whole_source(tfilefs, directories, mount, tmp_path):
    m = mount(directories)
    assert tfilefs("cp", f"{directories}/a/b/c/t/number.i4", tmp_path / "n.i4").returncode == 0
    assert filecmp.cmp(tmp_path / "n.i4", os.path.join(m.path, "a/b/c/t/number.i4"), shallow=False)
    refused = tfilefs("cp", f"{directories}/a", tmp_path)
    assert refused.returncode == 1 and "is a directory: -r copies it" in refused.stderr
    assert tfilefs("cp", "-r", directories, tmp_path / "whole").returncode == 0
    there = files_below(tmp_path / "whole")
    assert there and there == [name for name in files_below(m.path) if not os.path.basename(name).startswith(".")]
    for name in there:
        mounted, copied = os.path.join(m.path, name), tmp_path / "whole" / name
        assert filecmp.cmp(mounted, copied, shallow=False), name
        assert os.stat(mounted).st_mtime_ns == os.stat(copied).st_mtime_ns, name


def test_several_go_into_a_directory(tfilefs, directories, tmp_path):
    several = [f"{directories}/a/b/c/t/*", f"{directories}/h2"]
    assert "is no directory" in tfilefs("cp", "-r", *several, tmp_path / "none").stderr
    assert tfilefs("cp", "-r", *several, tmp_path).returncode == 0
    assert {"number.i4", "h2"} <= set(os.listdir(tmp_path))
    again = tfilefs("cp", "-r", f"{directories}/a/b/c/t", f"{directories}/a/*/c/t", tmp_path)
    assert again.returncode == 1 and "would replace that of" in again.stderr


def test_a_copy_does_not_replace_its_source(tfilefs, directories, tmp_path):
    """By its name, by a link to it, or in its directory."""
    own, link = tmp_path / "number.i4", tmp_path / "link.root"
    shutil.copy(directories, own)
    link.symlink_to(own)
    before = own.read_bytes()
    for to in (own, link, tmp_path):
        done = tfilefs("cp", f"{own}:a/b/c/t/number.i4", to)
        assert done.returncode == 1 and "its copy would replace the file that it is in" in done.stderr, done.stderr
    assert own.read_bytes() == before


def test_what_cannot_be_copied_is_said_with_where_and_why(tfilefs, directories, tmp_path):
    number = f"{directories}/a/b/c/t/number.i4"
    (tmp_path / "file").write_text("")
    (tmp_path / "out" / "number.i4").mkdir(parents=True)

    def said(*arguments):
        done = tfilefs("cp", *arguments)
        assert done.returncode == 1
        return done.stderr

    into = f"tfilefs: {number}: cannot write {tmp_path}"
    assert said(number, tmp_path / "out").startswith(f"{into}/out/number.i4: it is a directory")
    assert said(number, tmp_path / "none" / "x").startswith(f"{into}/none/.x.") and "No such file" in said(number, tmp_path / "none" / "x")
    below = f"{directories}/a/b/c"
    assert said("-r", below, tmp_path / "file").startswith(f"tfilefs: {below}: cannot make the directory {tmp_path}/file: ")
    assert said("-r", below, tmp_path / "none" / "x") == f"tfilefs: {below}: cannot make the directory {tmp_path}/none/x: No such file or directory\n"
    assert f"and {tmp_path}/file is no directory" in said(f"{below}/t/*", tmp_path / "file")


def test_only_files_and_links_are_replaced(tfilefs, directories, tmp_path):
    """`tfilefs cp X /dev/null` would put a file there."""
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (out / "source").mkdir(parents=True)
    (source / "link").symlink_to("nowhere")
    pipes = ("pipe", "source/link")
    for name in pipes:
        os.mkfifo(out / name)
    (out / "to pipe").symlink_to("pipe")
    number = f"{directories}/a/b/c/t/number.i4"
    for words, to in (((number, out / "pipe"), "pipe"), ((number, out / "to pipe"), "to pipe"), (("-r", source, out), "source/link")):
        done = tfilefs("cp", *words)
        assert done.returncode == 1 and f"cannot write {out}/{to}: it is no file; tfilefs cat" in done.stderr, done.stderr
    assert all(stat.S_ISFIFO(os.lstat(out / name).st_mode) for name in pipes) and (out / "to pipe").is_symlink()
    assert sorted(os.listdir(out)) == ["pipe", "source", "to pipe"], "and nothing unfinished"
    (out / "to file").symlink_to("file")
    (out / "file").write_text("kept")
    assert tfilefs("cp", number, out / "to file").returncode == 0
    assert (out / "file").read_text() == "kept" and not (out / "to file").is_symlink()


def test_each_of_several_sources_has_its_directory(tfilefs, tmp_path):
    for number in range(2):
        with uproot.recreate(tmp_path / f"run{number}.root") as file:
            file["T"] = {"x": np.full(3, number)}
    (tmp_path / "out").mkdir()
    assert tfilefs("cp", f"{tmp_path}/run*.root/T/x.i8", tmp_path / "out").returncode == 0
    for number in range(2):
        assert np.fromfile(tmp_path / f"out/run{number}.root/x.i8", "<i8").tolist() == 3 * [number]


def test_many_sources_are_not_open_at_once(program, tmp_path):
    os.mkdir(tmp_path / "runs")
    with uproot.recreate(tmp_path / "runs/0.root") as file:
        file["T"] = {"x": np.arange(3)}
    for number in range(1, 300):
        os.link(tmp_path / "runs/0.root", tmp_path / f"runs/{number}.root")
    os.mkdir(tmp_path / "out")
    words = [program, "cp", f"{tmp_path}/runs/*.root/T/x.i8", str(tmp_path / "out")]
    done = subprocess.run(["sh", "-c", 'ulimit -n 256; exec "$@"', "sh", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:500]
    for number in range(300):
        assert np.fromfile(tmp_path / f"out/{number}.root/x.i8", "<i8").tolist() == [0, 1, 2]


@pytest.mark.parametrize("source, to", [(".", "sub"), (".", "deep/sub"), (".", "deep"), ("../source", "new"), ("../link", "deep/deeper"),
                                        (".", "../out/again"), ("../source", "..")])
def test_a_directory_is_not_copied_into_itself(tfilefs, tmp_path, source, to):
    """By whatever name. The rest is copied, as by cp(1)."""
    at = tmp_path / "source"
    (at / "deep" / "deeper").mkdir(parents=True)
    (at / "note").write_text("text")
    (tmp_path / "link").symlink_to(at)
    (tmp_path / "out").symlink_to(at / "deep")
    done = tfilefs("cp", "-r", "-q", source, to, cwd=at)
    assert done.returncode == 1 and done.stderr.count("is not copied into itself: the copy goes there") == 1, done.stderr
    assert len([name for name in files_below(at) if os.path.basename(name) == "note"]) == (1 if to == ".." else 2)
    assert max(len(name.split("/")) for name in files_below(at)) <= 5
    assert tfilefs("cp", "-r", "-q", at / "deep", tmp_path / "beside").returncode == 0


def begun_and_killed(program, large, to):
    """A copy that was killed when it had begun."""
    process = subprocess.Popen([program, "cp", f"{large}/T/x.i8", str(to)])
    mounted.wait_until(lambda: process.poll() is not None or any(part.stat().st_size for part in to.parent.glob(".*.part")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    return [part for part in to.parent.glob(".*.part")]


def test_a_copy_continues_where_it_was_killed(program, tfilefs, large, tmp_path):
    to = tmp_path / "x.i8"
    for _ in range(20):
        parts = begun_and_killed(program, large, to)
        if parts:
            break
        to.unlink()  # it was whole already
    [part] = parts
    assert not to.exists()
    with open(part, "r+b") as file:  # a mark: these bytes are not written again
        file.write(b"mark")
    assert tfilefs("cp", f"{large}/T/x.i8", to).returncode == 0
    copied = to.read_bytes()
    assert copied[:4] == b"mark" and copied[4:] == np.arange(8_000_000, dtype=np.int64).tobytes()[4:]
    assert not list(tmp_path.glob(".*.part"))


def test_another_source_is_begun_again(program, tfilefs, large, tmp_path):
    to = tmp_path / "x.i8"
    while not (parts := begun_and_killed(program, large, to)):
        to.unlink()
    with uproot.recreate(large) as file:
        file["T"] = {"x": np.arange(8_000_000, dtype=np.int64)[::-1]}
    assert tfilefs("cp", f"{large}/T/x.i8", to).returncode == 0
    assert np.array_equal(np.fromfile(to, "<i8"), np.arange(8_000_000)[::-1])
    assert parts[0].exists()


def test_what_is_there_is_passed_over(tfilefs, large, tmp_path):
    to = tmp_path / "x.i8"
    assert tfilefs("cp", f"{large}/T/x.i8", to).returncode == 0
    inode = os.stat(to).st_ino
    assert tfilefs("cp", f"{large}/T/x.i8", to).returncode == 0 and os.stat(to).st_ino == inode
    changed = np.fromfile(to, "<i8")[::-1]
    changed.tofile(to)
    assert tfilefs("cp", f"{large}/T/x.i8", to).returncode == 0 and os.stat(to).st_ino != inode


def test_copies_are_named_if_that_is_wanted(tfilefs, large, tmp_path):
    assert tfilefs("cp", f"{large}/T/x.i8", tmp_path).stdout == ""
    done = tfilefs("cp", "-v", f"{large}/T/x.i8", f"{large}/T/x.i8.npy", tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [f"{large}/T/x.i8 -> {tmp_path}/x.i8 (unchanged)", f"{large}/T/x.i8.npy -> {tmp_path}/x.i8.npy"]


def test_progress_is_for_terminals(program, large, tmp_path):
    for quiet in ([], ["-q"]):
        status, shown = on_a_terminal([program, "cp", *quiet, f"{large}/T/x.i8", str(tmp_path / f"x{len(quiet)}.i8")])
        assert status == 0
        if quiet:
            assert shown == ""
        else:
            assert " MB of 64.0 MB, " in shown and " left" in shown, shown


def test_members_of_a_directory_of_files(tfilefs, tmp_path):
    (tmp_path / "in/sub").mkdir(parents=True)
    with uproot.recreate(tmp_path / "in/sub/f.root") as file:
        file["T"] = {"x": np.arange(4)}
    (tmp_path / "in/plain.txt").write_text("plain")
    os.symlink("plain.txt", tmp_path / "in/link")
    assert tfilefs("cp", "-r", tmp_path / "in", tmp_path / "out").returncode == 0
    assert (tmp_path / "out/plain.txt").read_text() == "plain" and os.readlink(tmp_path / "out/link") == "plain.txt"
    assert np.fromfile(tmp_path / "out/sub/f.root/T/x.i8", "<i8").tolist() == [0, 1, 2, 3]
    assert tfilefs("cat", tmp_path / "in/sub/f.root/T/x.i8", text=False).stdout == np.arange(4).tobytes()
