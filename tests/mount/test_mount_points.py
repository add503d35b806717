# SPDX-License-Identifier: Apache-2.0
"""What may be mounted on: a missing directory is made and goes again, and nothing is hidden that is not meant to be."""

import os
import shutil
import signal
import subprocess
import tempfile

import pytest

import mounted


@pytest.fixture
def sample(samples):
    return os.path.join(samples("storage"), "plain.root")


def wait_for_mount(path):
    mounted.wait_until(lambda: mounted.is_mount_point(path))


@pytest.fixture
def tfilefs(program, sample):
    def run(mount_point, *arguments, source=sample, **environment):
        return subprocess.run([program, *arguments, source, mount_point], capture_output=True, text=True,
                              env=os.environ | environment, timeout=60)

    return run


def umount(program, mount_point):
    subprocess.run([program, "umount", mount_point], check=True, timeout=60)


@pytest.mark.parametrize("foreground", (False, True))
def test_a_missing_one_is_made_and_goes_with_the_mount(program, sample, tmp_path, foreground):
    mnt = tmp_path / "mnt"
    daemon = subprocess.Popen([program, *(["-f"] if foreground else []), sample, mnt], stderr=subprocess.DEVNULL)
    wait_for_mount(mnt)
    assert sorted(os.listdir(mnt)) == ["h", "t"]
    umount(program, mnt)
    assert daemon.wait(60) == 0 and not mnt.exists()


def test_it_goes_also_when_the_daemon_is_asked_to_end(program, sample, tmp_path):
    daemon = subprocess.Popen([program, "-f", sample, tmp_path / "mnt"], stderr=subprocess.DEVNULL)
    wait_for_mount(tmp_path / "mnt")
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(60) == 0 and not (tmp_path / "mnt").exists()


def test_one_that_was_there_stays(program, tfilefs, tmp_path):
    (tmp_path / "mnt").mkdir()
    assert tfilefs(tmp_path / "mnt").returncode == 0
    umount(program, tmp_path / "mnt")
    assert (tmp_path / "mnt").is_dir()


def test_none_is_left_where_nothing_could_be_mounted(tfilefs, tmp_path):
    (tmp_path / "text.root").write_text("no ROOT file")
    for source, options in ((tmp_path / "text.root", ()), (tmp_path / "none.root", ()),
                            (tmp_path / "text.root", ("-o", f"logfile={tmp_path}/none/log"))):
        assert tfilefs(tmp_path / "mnt", *options, source=source).returncode == 1
        assert not (tmp_path / "mnt").exists()


def test_a_root_file_does_not_become_a_log(tfilefs, sample, tmp_path):
    copy = tmp_path / "copy.root"
    shutil.copy(sample, copy)
    before = copy.read_bytes()
    done = tfilefs(tmp_path / "mnt", "-o", f"logfile={copy}")
    assert done.returncode == 1 and f"{copy}: a ROOT file: name another for the log" in done.stderr, done.stderr
    assert copy.read_bytes() == before and not (tmp_path / "mnt").exists()


def test_those_above_it_are_not_made(tfilefs, tmp_path):
    done = tfilefs(tmp_path / "a" / "b")
    assert done.returncode == 1 and "its parent directory does not exist either" in done.stderr
    assert not (tmp_path / "a").exists()


def test_why_one_cannot_be_made_is_told(tfilefs, tmp_path, mount, sample):
    m = mount(sample)
    done = tfilefs(os.path.join(m.path, "below"))
    assert done.returncode == 1 and "below: cannot be created: Read-only file system\n" in done.stderr, done.stderr
    (tmp_path / "link").symlink_to("nothing")
    done = tfilefs(tmp_path / "link")
    assert done.returncode == 1 and "link: a symbolic link whose target does not exist\n" in done.stderr, done.stderr


def refused(done, why):
    assert done.returncode == 1 and why in done.stderr and "-o nonempty" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


def test_one_that_is_not_empty_has_to_be_meant(program, tfilefs, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis\n.tex").touch()
    refused(tfilefs(tmp_path / "full"), r"full: is not empty (thesis\x0a.tex)")
    assert not mounted.is_mount_point(tmp_path / "full")
    assert tfilefs(tmp_path / "full", "-o", "nonempty").returncode == 0
    assert "t" in os.listdir(tmp_path / "full")
    umount(program, tmp_path / "full")
    assert os.listdir(tmp_path / "full") == ["thesis\n.tex"]


def test_a_home_directory_and_the_root_have_to_be_meant(tfilefs, tmp_path):
    refused(tfilefs("/"), "/: is the root directory")
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    for name in ("home", "link"):
        refused(tfilefs(tmp_path / name, HOME=str(tmp_path / "home")), "is a home directory")
    refused(tfilefs(os.path.expanduser("~")), "is a home directory")


# The mounts of other tests are copied with the namespace, and would be in use.
READ_ONLY = """
umount --all --lazy --types fuse.tfilefs
mount --bind "$2" "$2" && mount -o remount,bind,ro "$2" || exit 77
for source in "$2/plain.root" "$2/new.root" "$2"; do "$1" -o rw "$source" "$3" && exit 1; done
"$1" "$2/plain.root" "$3" && ls "$3" && "$1" umount "$3"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a file system read-only")
def test_a_source_that_cannot_be_written_is_told_at_once(program, sample, tmp_path):
    (tmp_path / "source").mkdir()
    shutil.copy(sample, tmp_path / "source")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", READ_ONLY, "sh", program,
                           tmp_path / "source", tmp_path / "mnt"], capture_output=True, text=True, timeout=60)
    if done.returncode == 77:
        pytest.skip(f"no read-only mount can be made here: {done.stderr}")
    assert done.stdout == "h\nt\n" and done.stderr.count("Read-only file system") == 3, done.stderr
    assert done.stderr.count("source: cannot be written") + done.stderr.count(".root: cannot be written") == 3
    assert not (tmp_path / "mnt").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="chattr needs root")
def test_a_source_that_nobody_may_change_is_told_at_once(program, sample, tmp_path):
    shutil.copy(sample, tmp_path / "run.root")
    if subprocess.run(["chattr", "+i", tmp_path / "run.root"], capture_output=True).returncode != 0:
        pytest.skip("this file system has no immutable files")
    try:
        done = subprocess.run([program, "-o", "rw", tmp_path / "run.root", tmp_path / "mnt"], capture_output=True, text=True)
    finally:
        subprocess.run(["chattr", "-i", tmp_path / "run.root"], check=True)
    assert done.returncode == 1 and "run.root: cannot be written (Operation not permitted)" in done.stderr, done.stderr
    assert not (tmp_path / "mnt").exists()


# Where SELinux is off, its contexts are passed over. Where it seems to be on, the kernel gets them, and refuses them.
CONTEXTS = """
umount --all --lazy --types fuse.tfilefs
set -- "$@" -o 'context="system_u:object_r:nfs_t:s0:c1,c2",noatime'
"$@" && ls "$3" && "$1" umount "$3"
mount -t tmpfs none /sys/fs && mkdir /sys/fs/selinux && touch /sys/fs/selinux/enforce || exit 77
"$@"
"""


@pytest.mark.skipif(os.geteuid() != 0 or os.path.exists("/sys/fs/selinux/enforce"), reason="where SELinux is off, as root")
def test_contexts_of_selinux_are_those_of_mount(program, sample, tmp_path):
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", CONTEXTS, "sh", program,
                           sample, tmp_path / "mnt"], capture_output=True, text=True, timeout=60)
    if done.returncode == 77:
        pytest.skip(f"no file system can be laid over /sys/fs here: {done.stderr}")
    assert done.stdout == "h\nt\n"
    assert done.returncode == 1 and "cannot mount" in done.stderr, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be another user")
def test_what_fusermount_says_is_told(program, sample, mount):
    """To a user whose mount it is not."""
    with tempfile.TemporaryDirectory() as elsewhere:  # that of pytest is for its user alone
        os.chmod(elsewhere, 0o755)
        copied = shutil.copy(program, elsewhere)
        m = mount(sample, "allow_other")
        done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", copied, "umount", m.path],
                              capture_output=True, text=True)
    assert done.returncode == 1 and "cannot be unmounted: fusermount3: " in done.stderr, done.stderr


def test_a_mount_that_lost_its_daemon_is_mounted_over(program, sample, tfilefs, tmp_path):
    daemon = subprocess.Popen([program, "-f", sample, tmp_path / "mnt"], stderr=subprocess.DEVNULL)
    wait_for_mount(tmp_path / "mnt")
    daemon.kill()
    daemon.wait()
    mounted.wait_until(lambda: tfilefs(tmp_path / "mnt").returncode == 0)
    assert "t" in os.listdir(tmp_path / "mnt")
    umount(program, tmp_path / "mnt")


def takes_attributes(directory):
    try:
        os.setxattr(directory, "user.tried", b"1")
        os.removexattr(directory, "user.tried")
    except OSError:
        return False
    return True


def killed(program, sample, mount_point):
    """The mount of a daemon that made its mount point."""
    daemon = subprocess.Popen([program, "-f", sample, mount_point], stderr=subprocess.DEVNULL)
    wait_for_mount(mount_point)
    if not takes_attributes(mount_point.parent):
        pytest.skip("a file system without attributes of users")
    daemon.kill()
    daemon.wait()


@pytest.mark.parametrize("way", ("umount", "next", "over"))
def test_one_that_a_killed_daemon_made_goes_as_well(program, sample, tfilefs, tmp_path, way):
    mnt = tmp_path / "mnt"
    killed(program, sample, mnt)
    if way == "next":
        subprocess.run(["fusermount3", "-u", mnt], check=True)
    if way != "umount":
        assert tfilefs(mnt).returncode == 0
    umount(program, mnt)
    assert not mnt.exists()


def test_one_that_is_not_that_of_a_killed_daemon_stays(program, sample, tfilefs, tmp_path):
    mnt, copy = tmp_path / "mnt", tmp_path / "copy"
    killed(program, sample, mnt)
    subprocess.run(["fusermount3", "-u", mnt], check=True)
    subprocess.run(["cp", "-a", mnt, copy], check=True)
    mnt.rmdir()
    mnt.mkdir()
    for place in (mnt, copy):
        assert tfilefs(place).returncode == 0
        umount(program, place)
        assert place.is_dir()


def test_one_that_another_uses_is_not_taken_away_by_a_mount_that_fails(program, sample, tmp_path):
    """Whichever of them made it."""
    (tmp_path / "text.root").write_text("no ROOT file")
    sources = (tmp_path / "text.root", sample, tmp_path / "none.root")
    for _ in range(5):
        begun = [subprocess.Popen([program, source, tmp_path / "mnt"], stderr=subprocess.PIPE, text=True)
                 for source in sources]
        told = [process.communicate(timeout=60)[1] for process in begun]
        assert [process.returncode for process in begun] == [1, 0, 1], told
        umount(program, tmp_path / "mnt")
        assert not (tmp_path / "mnt").exists()
