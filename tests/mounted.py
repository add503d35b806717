# SPDX-License-Identifier: Apache-2.0
"""A running mount: started, waited for, unmounted; its daemon's end is checked."""

import os
import signal
import subprocess
import tempfile
import time

# Seconds for a daemon to end. It syncs what it wrote, which takes half a minute on a disk that others keep busy.
PATIENCE = 90


def program():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("TFILEFS_BIN", os.path.join(here, "..", "build", "fs", "tfilefs"))


def wait_until(seen, seconds=30, why=lambda: ""):
    """Waits until seen() is true, and returns it. `why`: what is said if it does not become so in time."""
    deadline = time.monotonic() + seconds
    while not (found := seen()):
        assert time.monotonic() < deadline, why()
        time.sleep(0.02)
    return found


def outcome(call):
    """What call() returns, or the errno that it fails with."""
    try:
        return call()
    except OSError as error:
        return error.errno


def is_mount_point(path):
    path = os.path.realpath(path).replace("\\", "\\134").replace(" ", "\\040")
    with open("/proc/self/mounts", errors="surrogateescape") as mounts:  # the names of others may be any bytes
        return any(line.split(" ")[1] == path for line in mounts)


def fsync(path):
    """fsync(2) of a file or directory, possibly from a process other than its writer. fsync of a mounted directory
    commits."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def states_of_threads(pid):
    """The letters of proc(5)."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
            yield file.read().rpartition(")")[2].split()[0]


def stop_threads(pid):
    """SIGSTOP, until no thread of the process runs: one that has a request when the signal comes still answers it."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: set(states_of_threads(pid)) == {"T"})


def threads_of(pid):
    """What each thread of a process waits for in the kernel, and its name."""
    threads = []
    for task in os.scandir(f"/proc/{pid}/task"):
        try:
            name, wait = (open(os.path.join(task.path, what)).read().strip() for what in ("comm", "wchan"))
        except OSError:
            continue
        threads.append(f"{name}: {wait}")
    return threads


class MountFailed(Exception):
    """The program ended without mounting; `message` is its output and `status` its exit status."""

    def __init__(self, status, message):
        super().__init__(f"exit {status}: {message}")
        self.status, self.message = status, message


class Mounted:
    """`tfilefs -f SOURCE MNT` as a child. `with Mounted(source) as m: os.listdir(m.path)`. A list of sources is for a
    chain."""

    def __init__(self, source, options=(), timeout=30.0, user=None, mount_point=None, environment=None, prefix=()):
        self._own_directory = mount_point is None
        self.path = os.path.realpath(mount_point or tempfile.mkdtemp(prefix="tfilefs-test-"))
        if user is not None:
            os.chown(self.path, user, user)
        self._messages = tempfile.TemporaryFile()
        command = [program(), "-f"]
        for option in options:
            command += ["-o", option]
        sources = source if isinstance(source, (list, tuple)) else [source]
        command += [*map(os.fspath, sources), self.path]
        if user is not None:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] + command
        command = [*prefix, *command]  # prefix: what it is run by (delayed_network.DelayedNetwork.command)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._messages, stderr=self._messages, env=environment
        )
        deadline = time.monotonic() + timeout
        while not is_mount_point(self.path):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                status = self.process.wait()
                message = self.messages()
                self._remove_directory()
                raise MountFailed(status, message)
            time.sleep(0.005)

    def messages(self):
        self._messages.seek(0)
        return self._messages.read().decode("utf-8", "replace")

    def alive(self):
        return self.process.poll() is None

    def resident_bytes(self):
        return self._status("VmRSS:")

    def peak_bytes(self):
        """The largest resident size."""
        return self._status("VmHWM:")

    def ticks(self):
        """CPU time of the daemon so far, in hundredths of a second."""
        with open(f"/proc/{self.process.pid}/stat") as status:
            return sum(map(int, status.read().rsplit(")", 1)[1].split()[11:13]))

    def idle_ticks(self):
        """The same, after waiting until the daemon is idle."""
        before = -1
        while (now := self.ticks()) != before:
            before = now
            time.sleep(0.3)
        return now

    def _status(self, name):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
        return 0

    def errors(self):
        with open(os.path.join(self.path, ".tfilefs", "errors"), "rb") as errors:
            return errors.read().decode("utf-8", "surrogateescape")

    def close(self):
        """Unmounts and waits for the daemon; returns its exit status."""
        deadline = time.monotonic() + 20
        while is_mount_point(self.path) and time.monotonic() < deadline:
            lazy = ["-z"] if time.monotonic() > deadline - 5 else []
            subprocess.run(["fusermount3", "-u", *lazy, self.path], capture_output=True)
            if is_mount_point(self.path):
                time.sleep(0.05)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = f"still running {PATIENCE} s after the unmount; its threads: {threads_of(self.process.pid)}"
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self._remove_directory()
        return status

    def _remove_directory(self):
        if self._own_directory:
            try:
                os.rmdir(self.path)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        alive = self.alive()
        status = self.close()
        if kind is None:
            assert alive, f"the daemon ended by itself with {status}: {self.messages()}"
            assert status == 0, f"the daemon ended with {status}: {self.messages()}"
        elif not alive or status != 0:
            print(f"daemon ended with {status}: {self.messages()}")
