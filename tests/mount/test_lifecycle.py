# SPDX-License-Identifier: Apache-2.0
"""Mounting, unmounting, the subcommands, and their errors."""

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import threading
import time

import pytest

import mounted
import mounted_table

NOBODY = 65534


@pytest.fixture
def plain(samples):
    return os.path.join(samples("storage"), "plain.root")


@pytest.fixture
def mount_point(tmp_path):
    path = tmp_path / "mnt"
    path.mkdir()
    yield str(path)
    while mounted.is_mount_point(path):
        subprocess.run(["fusermount3", "-u", "-z", str(path)], capture_output=True)


def run(program, *arguments, **more):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=60,
                          **more)


def daemons(mount_point):
    """Processes whose command line names the mount point."""
    found = []
    for process in os.listdir("/proc"):
        if process.isdigit():
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    arguments = file.read().split(b"\0")
            except OSError:
                continue
            if mount_point.encode() in arguments and b"tfilefs" in os.path.basename(arguments[0]):
                found.append(int(process))
    return found


def test_background_mount_is_ready_when_the_program_returns(program, plain, mount_point):
    result = run(program, plain, mount_point)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert result.stderr == f"tfilefs: mounted; see {mount_point}/.tfilefs/README\n"
    assert os.path.exists(os.path.join(mount_point, ".tfilefs/README"))
    assert sorted(os.listdir(mount_point)) == ["h", "t"]
    assert len(daemons(mount_point)) == 1
    result = run(program, "umount", mount_point)
    assert result.returncode == 0, result.stderr
    assert not mounted.is_mount_point(mount_point) and daemons(mount_point) == []


@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_what_the_source_has_under_the_name_of_the_control_directory_is_told_and_stays(program, tmp_path, mount_point, kind):
    source = tmp_path / "source"
    for own in (source / ".tfilefs", source / "below" / ".tfilefs"):
        own.parent.mkdir()
        if kind == "directory":
            own.mkdir()
            (own / "mine").write_text("mine")
        elif kind == "file":
            own.write_text("mine")
        else:
            own.symlink_to("nowhere")
    result = run(program, "-o", f"rw,logfile={tmp_path}/log", source, mount_point)
    hidden = f"{source}/.tfilefs is hidden by the mount's own .tfilefs, and is left unchanged\n"
    assert result.stderr == f"tfilefs: mounted; see {mount_point}/.tfilefs/README\ntfilefs: {hidden}"
    mounted.wait_until(lambda: hidden in (tmp_path / "log").read_text())
    control, below = os.path.join(mount_point, ".tfilefs"), os.path.join(mount_point, "below")
    assert os.listdir(mount_point) == ["below"] and "README" in os.listdir(control)
    for call in (lambda: os.rmdir(control), lambda: os.rename(control, os.path.join(mount_point, "new")), lambda: os.rename(below, control),
                 lambda: open(os.path.join(control, "mine"), "w"), lambda: os.mkdir(os.path.join(control, "new"))):
        with pytest.raises(OSError) as refused:
            call()
        assert refused.value.errno == errno.EROFS
    assert run("rm", "-r", control).returncode == 1
    assert os.listdir(below) == [".tfilefs"]
    with pytest.raises(OSError) as refused:
        os.rmdir(below)
    assert refused.value.errno == errno.ENOTEMPTY
    assert run("rm", "-r", below).returncode == 0
    assert run(program, "umount", mount_point).returncode == 0
    assert os.listdir(source) == [".tfilefs"]
    own = source / ".tfilefs"
    assert os.readlink(own) == "nowhere" if kind == "link" else (own / "mine" if kind == "directory" else own).read_text() == "mine"


def test_background_daemon_keeps_no_terminal(program, plain, mount_point):
    """The caller's pipes are closed, so a program that waits for their end does not wait for the daemon."""
    assert run(program, plain, mount_point).returncode == 0  # run() waits for the end of both pipes
    [daemon] = daemons(mount_point)
    assert os.getsid(daemon) != os.getsid(0)
    assert os.readlink(f"/proc/{daemon}/cwd") == "/"
    assert run(program, "umount", mount_point).returncode == 0


@pytest.mark.parametrize("closed", (["<&-"], [">&-"], ["2>&-"], ["<&-", ">&-"], ["<&-", ">&-", "2>&-"]))
def test_background_mount_of_a_shell_that_closed_its_descriptors(program, plain, mount_point, closed):
    command = f'"$0" "$1" "$2" {" ".join(closed)}'
    assert subprocess.run(["sh", "-c", command, program, plain, mount_point], capture_output=True).returncode == 0
    assert sorted(os.listdir(mount_point)) == ["h", "t"]
    assert run(program, "umount", mount_point).returncode == 0


@pytest.mark.parametrize("options", ([], ["-f"]))
@pytest.mark.parametrize(
    "content, told",
    [
        (b"not a ROOT file, but long enough to look at " * 10, "it is a text file"),
        ("Ein Verzeichnis für Übungen\n".encode() * 10, "it is a text file"),
        (b"\xff\xfe\xfd" * 100, "not a ROOT file"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "it is an HDF5 file"),
        (b"", "it is empty"),
        (b"root", ""),
        (b"root" + b"\xff" * 200, ""),
    ],
)
def test_refused_file(program, mount_point, tmp_path, options, content, told):
    path = tmp_path / "bad.root"
    path.write_bytes(content)
    result = run(program, *options, path, mount_point)
    assert result.returncode == 1
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and str(path) in lines[0] and told in lines[0], result.stderr
    assert not mounted.is_mount_point(mount_point)


def test_refused_without_source_or_mount_point(program, plain, mount_point, tmp_path):
    for source, where in ((tmp_path / "none.root", mount_point), (plain, tmp_path / "none" / "mnt"), (plain, plain)):
        result = run(program, source, where)
        assert result.returncode == 1 and len(result.stderr.strip().splitlines()) == 1, result.stderr
    result = run(program, "-o", "no_such_option=1", plain, mount_point)
    assert result.returncode != 0 and "no_such_option" in result.stderr
    assert run(program).returncode != 0


def test_a_directory_that_could_not_be_made_is_not_there(tmp_path):
    """Its name is too long for the journal beside it."""
    name = "x" * 248 + ".root"
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for _ in range(2):
            with pytest.raises(OSError) as error:
                os.mkdir(os.path.join(m.path, name))
            assert error.value.errno == errno.ENAMETOOLONG
            assert os.listdir(m.path) == []
        assert not os.path.exists(os.path.join(m.path, name))
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_recovered_is_told(program, plain, tmp_path):
    for path, told in ((tmp_path / "none.root", "No such file"), (tmp_path, "a directory")):
        result = run(program, "recover", path)
        assert result.returncode == 1 and told in result.stderr and result.stdout == "", path
    result = run(program, "recover", plain)
    assert result.returncode == 0 and "nothing to recover" in result.stdout


@pytest.mark.parametrize("word, told", [("unmount", "umount"), ("comit", "commit"), ("chek", "check"), ("lss", "ls"),
                                        ("mount", "SOURCE MNT"), ("frobnicate", "--help")])
def test_a_mistyped_command_is_told_the_nearest(program, tmp_path, word, told):
    for arguments in ((), ("mnt",)):
        result = run(program, word, *arguments, cwd=tmp_path)
        assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
        assert f"'{word}'" in result.stderr and f"tfilefs {told}" in result.stderr


def test_what_is_no_command_but_a_file_is_mounted(program, plain, mount_point):
    os.symlink(plain, os.path.join(os.path.dirname(mount_point), "unmount"))
    result = run(program, "unmount", mount_point, cwd=os.path.dirname(mount_point))
    assert result.returncode == 0, result.stderr
    assert run(program, "umount", mount_point).returncode == 0


@pytest.mark.parametrize("command", ((), ("ls",), ("map",), ("check",), ("classes",)))
def test_what_is_no_file_is_told_what_it_is(program, mount_point, tmp_path, command):
    rest = {(): [mount_point], ("classes",): [tmp_path / "headers"]}.get(command, [])
    url = "ftp://example.org/a.root"
    result = run(program, *command, url, *rest)
    assert result.returncode in (1, 8) and result.stderr.count("\n") == 1
    assert f'{url}: URL scheme "ftp" is not supported' in result.stderr
    if command not in ((), ("ls",)):
        result = run(program, *command, tmp_path, *rest)
        said = "is a directory" if command == ("classes",) else "no ROOT file in it or below"
        assert result.returncode in (1, 8) and f"{tmp_path}: {said}" in result.stderr
    else:
        (tmp_path / "empty.root").touch()
        assert "it is empty" in run(program, *command, tmp_path / "empty.root", *rest).stderr


def test_umount_of_what_is_not_mounted(program, mount_point):
    result = run(program, "umount", mount_point)
    assert result.returncode == 1 and result.stderr != ""


def test_busy_umount_says_so(program, plain, mount_point):
    assert run(program, plain, mount_point).returncode == 0
    with open(os.path.join(mount_point, "t/number.i4"), "rb"):
        result = run(program, "umount", mount_point)
        assert result.returncode != 0 and "busy" in result.stderr.lower()
        assert mounted.is_mount_point(mount_point)
    assert run(program, "umount", mount_point).returncode == 0


def test_umount_outwaits_who_looks_in_for_an_instant(program, plain, mount_point):
    run(program, plain, mount_point, check=True)
    held = os.open(mount_point, os.O_RDONLY)
    release = threading.Timer(0.3, os.close, (held,))
    release.start()
    result = run(program, "umount", mount_point)
    release.join()
    assert (result.returncode, result.stderr) == (0, "")
    assert not os.path.ismount(mount_point)


@pytest.fixture
def held_elsewhere(program, plain, mount_point):
    """A mount that a process in a separate mount namespace also has; returns that process."""
    if os.geteuid() != 0:
        pytest.skip("a mount namespace needs root")
    run(program, plain, mount_point, check=True)
    keeper = subprocess.Popen(["unshare", "-m", "sh", "-c", "echo there; exec sleep 1000"], stdout=subprocess.PIPE)
    keeper.stdout.readline()
    yield keeper
    keeper.kill()
    keeper.wait()
    keeper.stdout.close()


def test_umount_names_who_holds_the_mount_in_another_namespace(program, mount_point, held_elsewhere):
    waiting = subprocess.Popen([program, "umount", mount_point], stderr=subprocess.PIPE, text=True)
    holder, waits = waiting.stderr.readline(), waiting.stderr.readline()
    assert f"process {held_elsewhere.pid} (sleep)" in holder and f"nsenter -t {held_elsewhere.pid} -m umount" in holder
    assert "--lazy" in waits and not os.path.ismount(mount_point)
    held_elsewhere.kill()
    assert waiting.communicate(timeout=60) == (None, "") and waiting.returncode == 0
    assert daemons(mount_point) == []


def test_waiting_for_who_holds_the_mount_ends_on_ctrl_c(program, mount_point, held_elsewhere):
    waiting = subprocess.Popen([program, "umount", mount_point], stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(60) == -signal.SIGINT
    waiting.stderr.close()
    assert len(daemons(mount_point)) == 1


def test_lazy_umount_waits_for_nobody(program, mount_point, held_elsewhere):
    with open(os.path.join(mount_point, "t/number.i4"), "rb") as used:
        result = run(program, "umount", "--lazy", mount_point)
        assert (result.returncode, result.stderr) == (0, "")
        assert not os.path.ismount(mount_point) and len(daemons(mount_point)) == 1
        assert used.read(4) != b""


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGINT))
def test_signal_unmounts(plain, number):
    m = mounted.Mounted(plain)
    m.process.send_signal(number)
    assert m.process.wait(20) == 0
    assert not mounted.is_mount_point(m.path)
    m.close()


def test_a_signal_while_a_mount_begins_leaves_none(program, plain, mount_point):
    """At each millisecond of the first fifty: before there is a mount, the signal ends the process as any other."""
    for delay in range(50):
        begun = subprocess.Popen([program, "-f", plain, mount_point], stdout=subprocess.DEVNULL)
        time.sleep(delay / 1000)
        begun.send_signal(signal.SIGTERM)
        status = begun.wait(20)
        assert (delay, status) in ((delay, 0), (delay, -signal.SIGTERM))
        assert not mounted.is_mount_point(mount_point)


def test_dead_mount_point_is_cleared(program, plain, mount_point):
    m = mounted.Mounted(plain, mount_point=mount_point)
    m.process.kill()
    m.process.wait()
    with pytest.raises(OSError) as error:
        os.listdir(mount_point)
    assert error.value.errno == errno.ENOTCONN
    assert run(program, plain, mount_point).returncode == 0
    assert sorted(os.listdir(mount_point)) == ["h", "t"]
    assert run(program, "umount", mount_point).returncode == 0
    assert not mounted.is_mount_point(mount_point)


def guards(mount_point):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                if mount_point in file.read().split("\0"):
                    found.append(open(f"/proc/{pid}/comm", encoding="utf-8").read().strip())
        except OSError:
            pass
    return found.count("tfilefs-guard")


@pytest.mark.parametrize("how", ("killed", "killed in use", "unmounted"))
def test_a_mount_with_a_guard_goes_with_its_daemon(program, plain, tmp_path, how):
    mount_point = str(tmp_path / "mnt")
    daemon = subprocess.Popen([program, "-f", "-o", "auto_unmount", plain, mount_point])
    opened = None
    try:
        mounted.wait_until(lambda: mounted.is_mount_point(mount_point) and "t" in os.listdir(mount_point))
        mounted.wait_until(lambda: guards(mount_point) == 1)  # it takes its name when it first runs
        opened = os.open(mount_point, os.O_RDONLY) if how == "killed in use" else None
        if how == "unmounted":
            assert run(program, "umount", mount_point).returncode == 0
        else:
            daemon.kill()
        daemon.wait(20)
        mounted.wait_until(lambda: not mounted.is_mount_point(mount_point) and guards(mount_point) == 0)
        mounted.wait_until(lambda: not os.path.exists(mount_point))
    finally:
        daemon.kill()
        daemon.wait()
        if opened is not None:
            os.close(opened)


def test_of_mounts_at_a_place_that_begin_together_one_is_there(program, plain, mount_point):
    """Of each round: mounts upon each other would want to be unmounted as often."""
    for _ in range(5):
        begun = [subprocess.Popen([program, plain, mount_point], stderr=subprocess.PIPE, text=True) for _ in range(6)]
        told = [process.communicate(timeout=60)[1] for process in begun]
        assert sorted(process.returncode for process in begun) == [0, 1, 1, 1, 1, 1], told
        assert sum("already a mount of tfilefs" in text for text in told) == 5, told
        assert run(program, "umount", mount_point).returncode == 0 and not mounted.is_mount_point(mount_point)


def test_a_mount_point_that_is_locked_is_mounted_on(program, plain, mount_point):
    directory = os.open(mount_point, os.O_RDONLY)
    fcntl.flock(directory, fcntl.LOCK_EX)
    try:
        assert run(program, plain, mount_point).returncode == 0 and mounted.is_mount_point(mount_point)
    finally:
        os.close(directory)


def test_killed_at_any_time_it_ends(plain, mount_point):
    """Also while it mounts: a thread that waits for an answer of its own process could not be killed."""
    for delay in (0, 0, 0, 0.0005, 0.001, 0.002, 0.005, 0.01):
        m = mounted.Mounted(plain, mount_point=mount_point)
        time.sleep(delay)
        m.process.kill()
        m.process.wait(20)
        m.close()


def test_reader_ends_when_the_daemon_is_killed(samples, mount_point):
    m = mounted.Mounted(os.path.join(samples("numbers"), "numbers-big-baskets.root"), mount_point=mount_point)
    column = os.path.join(mount_point, "t/k_D/values.f8x2x2")
    reader = subprocess.Popen(["sh", "-c", f"while dd if='{column}' iflag=direct bs=4k of=/dev/null 2>&1; do :; done"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    m.process.kill()
    m.process.wait()
    reader.wait(20)
    m.close()


# Runs in a separate mount namespace, with tfilefs where mount(8) looks for it; prints the options and the names.
MOUNT_BY_TYPE = """
set -e
mount --bind "$1" /usr/local/bin
mount -t fuse.tfilefs "$2" "$3" -o ro,views=listed
grep " $3 " /proc/self/mounts
ls -A "$3"
umount "$3"
"""


def test_mount_by_type(program, plain, mount_point, tmp_path):
    """mount -t fuse.tfilefs, as from fstab."""
    if os.geteuid() != 0:
        pytest.skip("mount(8) needs root")
    (tmp_path / "bin").mkdir()
    shutil.copy(program, tmp_path / "bin" / "tfilefs")
    result = subprocess.run(["unshare", "-m", "sh", "-c", MOUNT_BY_TYPE, "sh", tmp_path / "bin", plain, mount_point],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    line, *names = result.stdout.splitlines()
    assert {"h", "t", ".map.txt"} <= set(names)
    fields = line.split(" ")
    assert fields[2] == "fuse.tfilefs"
    assert {"ro", "nosuid", "nodev"} <= set(fields[3].split(","))


@pytest.mark.parametrize("options", (["-o", "rw,noatime,views=listed"], ["-o", "rw,rw,rw,views=listed"],
                                     ["-o", "views=listed,rw", "-o", "rw,rw"], ["-n", "-o", "ro,views=listed", "-t", "fuse.tfilefs"]))
def test_helper_of_mount(program, plain, mount_point, tmp_path, options):
    """packaging/mount.fuse.tfilefs, called as mount(8) calls /sbin/mount.fuse.tfilefs."""
    (tmp_path / "bin").mkdir()
    os.symlink(os.path.realpath(program), tmp_path / "bin" / "tfilefs")
    helper = os.path.join(os.path.dirname(__file__), "..", "..", "packaging", "mount.fuse.tfilefs")
    result = run("sh", helper, plain, mount_point, *options,
                 env=dict(os.environ, PATH=f"{os.environ['PATH']}:{tmp_path / 'bin'}"))
    assert result.returncode == 0, result.stderr
    assert {"h", "t", ".map.txt"} <= set(os.listdir(mount_point))
    assert os.statvfs(mount_point).f_flag & os.ST_RDONLY
    assert run(program, "umount", mount_point).returncode == 0


def test_help_and_version(program):
    for arguments in (("--help",), ("umount", "--help"), ("ls", "--help"), ("map", "--help")):
        result = run(program, *arguments)
        assert result.returncode == 0 and "tfilefs" in result.stdout, arguments
    result = run(program, "--help")
    for word in ("memory", "views"):
        assert word in result.stdout, word
    for command in ("umount", "ls", "map", "check", "stats", "classes", "commit", "recover"):
        assert f"  tfilefs {command} " in result.stdout, command
        assert f"tfilefs {command} " in run(program, command, "--help").stdout
    result = run(program, "--version")
    assert result.returncode == 0 and re.search(r"\d+\.\d+", result.stdout)


def test_ls(program, samples):
    source = os.path.join(samples("storage"), "directories.root")
    result = run(program, "ls", "-1", source)
    assert result.returncode == 0, result.stderr
    assert set(result.stdout.split("\n")[:-1]) == {"a", "empty", "h2", "with space"}
    assert run(program, "ls", "-1", source + "/a/b/c").stdout.split() == ["h", "t"]
    assert "number.i4" in run(program, "ls", "-1R", source).stdout
    result = run(program, "ls", source + "/a/nothing")
    assert result.returncode != 0 and "nothing" in result.stderr


def test_ls_escapes_control_characters(program, samples):
    result = run(program, "ls", "-1", os.path.join(samples("storage"), "names.root"))
    assert result.returncode == 0 and "\x1b" not in result.stdout
    assert len(result.stdout.splitlines()) == 16, "a name with a line break is still one line"


def test_ls_long_tells_sizes_of_the_mount(program, plain, shared_mount):
    lines = run(program, "ls", "-l", plain + "/t").stdout.splitlines()
    [line] = [line for line in lines if "matrix.f8x2x2" in line]
    size = os.stat(os.path.join(shared_mount(plain).path, "t/matrix.f8x2x2")).st_size
    assert str(size) in line.split()


def paths_of(json_text):
    """All values of "path" or "name" at any place."""
    found = set()

    def visit(value):
        if isinstance(value, dict):
            for key in ("path", "name"):
                if isinstance(value.get(key), str):
                    found.add(value[key])
            for inner in value.values():
                visit(inner)
        elif isinstance(value, list):
            for inner in value:
                visit(inner)

    visit(json.loads(json_text))
    return found


def test_ls_json(program, plain):
    assert {"h", "t"} <= {os.path.basename(path) for path in paths_of(run(program, "ls", "--json", plain).stdout)}


def test_map(program, plain):
    result = run(program, "map", plain)
    assert result.returncode == 0 and result.stdout.count("TBasket") > 20 and "TTree" in result.stdout
    assert run(program, "map", plain + ".none").returncode != 0


@pytest.fixture
def public(plain, program):
    """The program and a sample that every user can reach, and an empty mount point owned by user nobody."""
    import tempfile

    directory = tempfile.mkdtemp(prefix="tfilefs-public-")
    os.chmod(directory, 0o755)
    shutil.copy(program, os.path.join(directory, "tfilefs"))
    shutil.copy(plain, os.path.join(directory, "plain.root"))
    os.chmod(os.path.join(directory, "plain.root"), 0o644)
    point = os.path.join(directory, "mnt")
    os.mkdir(point)
    os.chown(point, NOBODY, NOBODY)
    # Without udev (in containers), only root may be able to open /dev/fuse.
    mode = stat.S_IMODE(os.stat("/dev/fuse").st_mode)
    if os.geteuid() == 0:
        os.chmod("/dev/fuse", 0o666)
    yield directory
    subprocess.run(["fusermount3", "-u", "-z", point], capture_output=True)
    if os.geteuid() == 0:
        os.chmod("/dev/fuse", mode)
    shutil.rmtree(directory, ignore_errors=True)


def as_nobody(*command):
    return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command],
                          capture_output=True, timeout=60)


def test_unprivileged_user(public):
    if os.geteuid() != 0:
        pytest.skip("not root: all other tests run unprivileged already")
    program, point = os.path.join(public, "tfilefs"), os.path.join(public, "mnt")
    result = as_nobody(program, os.path.join(public, "plain.root"), point)
    assert result.returncode == 0, result.stderr
    assert as_nobody("ls", point).stdout == b"h\nt\n"
    number = as_nobody("od", "-An", "-t", "d4", "-v", "-w4", os.path.join(point, "t/number.i4"))
    assert [int(line) for line in number.stdout.split()] == list(range(1, 501))
    with pytest.raises(PermissionError):
        os.listdir(point)  # without allow_other, not even root can read it
    result = as_nobody(program, "umount", point)
    assert result.returncode == 0, result.stderr
    assert not mounted.is_mount_point(point)


def test_a_mount_that_fails_leaves_nothing_behind(public):
    """Neither the new file nor a journal, if the kernel refuses the mount because the directory belongs to another
    user."""
    if os.geteuid() != 0:
        pytest.skip("not root: only root has directories of others")
    program, point = os.path.join(public, "tfilefs"), os.path.join(public, "mnt")
    mine = os.path.join(public, "mine")
    os.mkdir(mine)
    os.chown(mine, NOBODY, NOBODY)
    new = os.path.join(mine, "new.root")
    os.chown(point, 0, 0)
    result = as_nobody(program, "-o", "rw", new, point)
    assert result.returncode == 1 and b"cannot mount" in result.stderr
    assert os.listdir(mine) == []
    os.chown(point, NOBODY, NOBODY)
    assert as_nobody(program, "-o", "rw", new, point).returncode == 0
    assert os.listdir(mine) == ["new.root.tfilefs-journal"]
    assert as_nobody(program, "umount", point).returncode == 0
    assert os.listdir(mine) == ["new.root"]


def test_modes_of_the_source_hold_for_others(public):
    """With allow_other, the kernel checks the modes, which follow the source."""
    if os.geteuid() != 0:
        pytest.skip("allow_other needs root here")
    source = os.path.join(public, "plain.root")
    os.chmod(source, 0o600)
    with mounted.Mounted(source, ["allow_other"]) as m:
        column = os.path.join(m.path, "t/number.i4")
        assert stat.S_IMODE(os.stat(column).st_mode) & 0o077 == 0
        assert as_nobody("cat", column).returncode != 0
    os.chmod(source, 0o644)
    with mounted.Mounted(source, ["allow_other"]) as m:
        assert as_nobody("cat", os.path.join(m.path, "t/number.i4")).returncode == 0


def test_options_of_every_fuse_filesystem(plain):
    with mounted.Mounted(plain, ["uid=1234,gid=2345,umask=077"]) as m:
        status = os.stat(os.path.join(m.path, "t/number.i4"))
        assert (status.st_uid, status.st_gid) == (1234, 2345)
        assert stat.S_IMODE(status.st_mode) & 0o077 == 0


def test_unmounts_by_itself_when_idle(plain):
    m = mounted.Mounted(plain, ["idle=1"])
    with open(os.path.join(m.path, "t/number.i4"), "rb"):
        time.sleep(2.5)
        assert m.alive(), "an open file is use"
    assert m.process.wait(20) == 0
    assert not mounted.is_mount_point(m.path)
    m.close()


@pytest.mark.parametrize("option", ("memory=64M", "memory=1g", "threads=1", "readahead=0", "prefetch=off",
                                    "prefetch=sequential", "prefetch=learn", "ro", "noatime", "views=hidden"))
def test_options_are_taken(plain, mount, option):
    m = mount(plain, option)
    assert mounted_table.read_node(os.path.join(m.path, "t"), "number") == list(range(1, 501))


@pytest.mark.parametrize("option", ("memory=much", "memory=", "threads=-1", "threads=x", "prefetch=always", "views=some",
                                    "uid=no-such-user", "umask=999", "compression=best", "autoflush=0", "commit=soon"))
def test_options_that_make_no_sense(program, plain, mount_point, option):
    result = run(program, "-o", option, plain, mount_point)
    assert result.returncode in (1, 2), result
    assert option.split("=")[0] in result.stderr
    assert not mounted.is_mount_point(mount_point)


def test_mount_point_with_odd_characters(program, plain, tmp_path):
    point = tmp_path / "a b\tc\\d,e"
    point.mkdir()
    source = tmp_path / "so urce,x.root"
    shutil.copy(plain, source)
    assert run(program, source, point).returncode == 0
    assert sorted(os.listdir(point)) == ["h", "t"]
    result = run(program, "umount", point)
    assert result.returncode == 0, result.stderr


def test_relative_paths(program, plain, mount_point):
    directory, name = os.path.split(plain)
    shutil.copy(plain, os.path.join(os.path.dirname(mount_point), "here.root"))
    result = run(program, "here.root", "mnt", cwd=os.path.dirname(mount_point))
    assert result.returncode == 0, result.stderr
    assert sorted(os.listdir(mount_point)) == ["h", "t"]
    assert run(program, "umount", "mnt", cwd=os.path.dirname(mount_point)).returncode == 0


def test_memory_stays_within_its_budget(samples, mount):
    """Reading everything many times does not make the daemon grow beyond the budget and a fixed part."""
    m = mount(samples("numbers"), "memory=16777216")
    for _ in range(2):
        for directory, _, files in os.walk(m.path):
            for name in files:
                mounted_table.read_exactly(os.path.join(directory, name))
    assert m.resident_bytes() < (16 + 200) * 2**20
