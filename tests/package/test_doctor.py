# SPDX-License-Identifier: Apache-2.0
"""tfilefs doctor: on a whole machine, and where something is missing, the line that names the remedy."""

import os
import re
import subprocess

import pytest

import other_dev

USER = 65534  # nobody: fusermount3 wants a user that has a name


def lines_of(text):
    """{what: (verdict, the rest)}"""
    found = re.findall(r"^(good|note|bad ?)  (\S+) +(.*)$", text, re.MULTILINE)
    return {what: (verdict.strip(), told) for verdict, what, told in found}


def as_user(installed, tmp_path, commands, path=None, user=USER):
    """Lines of sh as an ordinary user, in a mount namespace of its own. The build may lie where that user cannot go."""
    program = tmp_path / "tfilefs"
    subprocess.run(["install", "-m", "755", installed.program, program], check=True)
    for directory in (tmp_path, *(each for each in tmp_path.parents if each != each.parent and str(each) != "/tmp")):
        os.chmod(directory, 0o755)
    run = f"/usr/bin/setpriv --reuid={user} --regid={user} --clear-groups /usr/bin/env TMPDIR=/tmp PATH={path or '/usr/bin:/bin'} {program} doctor"
    return subprocess.run(["unshare", "--mount", "sh", "-c", commands.replace("DOCTOR", run)], capture_output=True, text=True,
                          timeout=120, env=dict(os.environ, T=str(tmp_path)))


def leaves_nothing():
    return not [name for name in os.listdir("/tmp") if name.startswith("tfilefs-doctor-")]


def test_a_machine_that_can_mount(installed):
    done = subprocess.run([installed.program, "doctor"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = lines_of(done.stdout)
    assert set(found) == {"kernel", "/dev/fuse", "fusermount3", "allow_other", "open", "memory", "cores", "read-ahead", "mount"}
    assert all(verdict != "bad" for verdict, _ in found.values())
    assert found["mount"][0] == "good" and found["/dev/fuse"][0] == "good"
    assert leaves_nothing()


def test_without_the_device(installed, tmp_path):
    done = other_dev.run(tmp_path, other_dev.USUAL, f"{installed.program} doctor")
    assert done.returncode == 1, done.stdout + done.stderr
    found = lines_of(done.stdout)
    assert found["/dev/fuse"][0] == "bad"
    assert "modprobe fuse" in found["/dev/fuse"][1] and "--device /dev/fuse" in found["/dev/fuse"][1]
    assert found["mount"][0] == "bad" and leaves_nothing()


@pytest.mark.parametrize("what", ("touch", "mkdir"))
def test_what_is_no_device_in_its_place(installed, what):
    commands = f'umount --all --lazy --types fuse.tfilefs; mount -t tmpfs none /dev && {what} /dev/fuse && exec "$0" doctor'
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", commands, installed.program],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    assert lines_of(done.stdout)["/dev/fuse"][0] == "bad" and "is not a device" in lines_of(done.stdout)["/dev/fuse"][1]
    assert leaves_nothing()


# The device as udev makes it, whatever it is here.
DEVICE = 'mknod "$T/fuse" c 10 229; chmod 666 "$T/fuse"; mount --bind "$T/fuse" /dev/fuse'


def test_without_the_helper(installed, tmp_path):
    done = as_user(installed, tmp_path, f"{DEVICE}; mount --bind /dev/null /usr/bin/fusermount3; DOCTOR")
    assert done.returncode == 1, done.stdout + done.stderr
    found = lines_of(done.stdout)
    assert found["fusermount3"][0] == "bad" and "install the package fuse3" in found["fusermount3"][1]
    assert "cannot mount: fusermount3 is not installed: install the package fuse3" in found["mount"][1]
    assert found["mount"][0] == "bad" and leaves_nothing()


# Of a user who is no root of any namespace, and of one who may become it.
@pytest.mark.parametrize("most, told", ((0, "user namespaces are not allowed here"), (100, "unshare -Urm")))
def test_without_the_helper_it_says_what_namespaces_help(installed, tmp_path, most, told):
    limit = "/proc/sys/user/max_user_namespaces"
    # The limit is that of the writer's namespace: one of its own, which root maps to itself.
    commands = f"""{DEVICE}; mount --bind /dev/null /usr/bin/fusermount3
        unshare --user sleep 100 &
        until [ "$(readlink /proc/$!/ns/user)" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done
        for map in uid_map gid_map; do echo 0 0 65536 >/proc/$!/$map; done
        nsenter --user --target $! sh -c 'echo {most} >{limit} && exec DOCTOR'
        kill $!"""
    done = as_user(installed, tmp_path, commands)
    if "fusermount3" not in done.stdout:
        pytest.skip(f"no namespaces of users can be made here: {done.stderr}")
    assert told in lines_of(done.stdout)["fusermount3"][1], done.stdout


def test_without_the_table_of_mounts(installed, tmp_path):
    done = as_user(installed, tmp_path, f"""{DEVICE}
mkdir "$T/etc" "$T/upper" "$T/work" && mount -t tmpfs none "$T/etc" && mkdir "$T/etc/upper" "$T/etc/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$T/etc/upper,workdir=$T/etc/work" /etc && rm /etc/mtab || exit 77
DOCTOR""")
    if done.returncode == 77:
        pytest.skip(f"nothing can be laid over /etc here: {done.stderr}")
    found = lines_of(done.stdout)
    assert found["fusermount3"][0] == "bad" and "ln -s /proc/self/mounts /etc/mtab" in found["fusermount3"][1]
    assert done.returncode == 1 and found["mount"] == ("bad", "not tried: it could not be unmounted") and leaves_nothing()


def test_with_a_helper_that_may_not(installed, tmp_path):
    """A file system that is mounted without set-user-ID, as in many containers, or a mode that was changed."""
    helper = tmp_path / "fusermount3"
    helper.write_text("#!/bin/sh\nexit 1\n")
    helper.chmod(0o755)
    done = as_user(installed, tmp_path, f"mount --bind {helper} /usr/bin/fusermount3; DOCTOR")
    found = lines_of(done.stdout)
    assert done.returncode == 1 and found["fusermount3"][0] == "bad"
    assert "chmod u+s /usr/bin/fusermount3" in found["fusermount3"][1]


def test_of_a_user_without_a_name(installed, tmp_path):
    """As in a container that is given any number for its user."""
    done = as_user(installed, tmp_path, f"{DEVICE}; DOCTOR", user=23001)
    found = lines_of(done.stdout)
    assert done.returncode == 1 and found["mount"][0] == found["fusermount3"][0] == "bad"
    assert "refuses a user without a name, as 23001 is: add a line to /etc/passwd" in found["fusermount3"][1] and leaves_nothing()


def test_the_helper_is_found_where_path_does_not_lead(installed, tmp_path):
    """libfuse finds it to mount: then it must be found to unmount, too."""
    done = as_user(installed, tmp_path, f"{DEVICE}; DOCTOR", path="/nowhere")
    found = lines_of(done.stdout)
    assert found["fusermount3"] == ("good", "/usr/bin/fusermount3") and found["mount"][0] == "good", done.stdout
    assert leaves_nothing()


def test_a_device_that_only_root_may_open(installed, tmp_path):
    device = 'mknod "$T/fuse" c 10 229; chmod 600 "$T/fuse"; mount --bind "$T/fuse" /dev/fuse'
    done = as_user(installed, tmp_path, f"{device}; DOCTOR")
    found = lines_of(done.stdout)
    assert done.returncode == 1 and found["/dev/fuse"][0] == "bad" and "chmod 0666 /dev/fuse" in found["/dev/fuse"][1]


@pytest.mark.parametrize("allowed", (False, True))
def test_of_other_users(installed, tmp_path, allowed):
    (tmp_path / "fuse.conf").write_text("# user_allow_other\n" + ("\tuser_allow_other # all\n" if allowed else ""))
    done = as_user(installed, tmp_path, f'{DEVICE}; mount --bind "$T/fuse.conf" /etc/fuse.conf; DOCTOR')
    found = lines_of(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found["fusermount3"][0] == "good" and found["mount"][0] == "good"
    if allowed:
        assert found["allow_other"][0] == "good"
    else:
        assert found["allow_other"][0] == "note" and "echo user_allow_other >> /etc/fuse.conf" in found["allow_other"][1]
