# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces, near and remote, with a long line between them.

    with DelayedNetwork(rtt_ms=100, mbit=8) as network:
        subprocess.Popen([*network.command("remote"), "nginx", ...])       # listens on network.remote_address
        subprocess.run([*network.command("near"), "curl", f"http://{network.remote_address}/"])

Each has a TUN device. A process of its own, the line, takes packets out of one device and puts them into the other
one later. So everything is delayed: handshakes, TLS, each redirection. Needs root."""

import ctypes
import fcntl
import heapq
import itertools
import os
import select
import shutil
import struct
import subprocess
import sys
import time

NEAR_ADDRESS, REMOTE_ADDRESS = "10.77.0.1", "10.77.0.2"
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
DEVICE = "wan0"

_numbers = itertools.count()


def _missing():
    """Why there can be no such network here; None if there can."""
    if os.getuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "nsenter"):
        if not shutil.which(program):
            return f"{program} is not installed"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun: {error.strerror}"
    return None


def _skip(reason):
    import pytest  # the line itself does without

    pytest.skip(reason)


def _remove(namespace):
    subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)


class DelayedNetwork:
    """near and remote are the names of the namespaces. Networks do not see each other, so all have the same addresses.

    mbit: of each direction, in 1e6 bits a second (None: as fast as the line's process is)."""

    near_address, remote_address = NEAR_ADDRESS, REMOTE_ADDRESS

    def __init__(self, rtt_ms, mbit=None, mtu=1500):
        name = f"tfilefs-{os.getpid()}-{next(_numbers)}"
        self.near, self.remote = name + "-near", name + "-remote"
        self._settings = [str(rtt_ms), str(mbit or 0), str(mtu)]
        self._line = None

    def __enter__(self):
        if reason := _missing():
            _skip(reason)
        self._line = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), self.near, self.remote, *self._settings],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        if self._line.stdout.readline() != "ready\n":
            said = self._line.communicate()[1]
            self.close()
            _skip(f"no network namespaces: {said.strip().splitlines()[-1:]}")
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._line:
            self._line.stdin.close()
            try:
                self._line.wait(5)
            except subprocess.TimeoutExpired:
                self._line.kill()
                self._line.wait()
            self._line.stdout.close()
            self._line.stderr.close()
        for namespace in (self.near, self.remote):
            if os.path.exists(f"/run/netns/{namespace}"):
                _remove(namespace)

    def command(self, side):
        """What a program is started by to run on this side. Its mounts are those of all: `ip netns exec` would give it a
        mount namespace of its own as well."""
        return ["nsenter", f"--net=/run/netns/{getattr(self, side)}"]

    def cut(self):
        """From now on all packets are lost."""
        self._tell("cut")

    def mend(self):
        self._tell("mend")

    def _tell(self, word):
        self._line.stdin.write(word + "\n")
        self._line.stdin.flush()
        assert self._line.stdout.readline() == word + "\n"


# What follows runs in the process that is the line.


def _make_device(namespace, own, other, mtu):
    """A TUN device in a new namespace; returns its descriptor. This process is back in its own namespace then."""
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
        for arguments in ("link set lo up", f"link set {DEVICE} mtu {mtu} txqueuelen 10000 up",
                          f"addr add {own} peer {other} dev {DEVICE}"):
            subprocess.run(["ip", *arguments.split()], check=True)
        return device
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(home)
        os.close(there)


class _Direction:
    """Packets on their way from one device to the other."""

    def __init__(self, source, target, delay, bytes_per_second):
        self.source, self._target, self._delay, self._rate = source, target, delay, bytes_per_second
        self._under_way = []  # (time of arrival, number, packet)
        self._numbers = itertools.count()
        self._sent_until = 0.0  # when the last packet has left, at the line's rate
        # A router holds about a round trip of packets. What comes beyond is lost, which slows senders down.
        self._held_max = max(0.05, 2 * delay)

    def take(self, is_cut):
        """The packets that wait at the source, some at a time: the other direction has its turn."""
        for _ in range(64):
            try:
                packet = os.read(self.source, 65536)
            except BlockingIOError:
                return
            now = time.monotonic()
            if is_cut or self._sent_until - now > self._held_max:
                continue
            if self._rate:
                self._sent_until = max(self._sent_until, now) + len(packet) / self._rate
            arrival = max(now, self._sent_until) + self._delay
            heapq.heappush(self._under_way, (arrival, next(self._numbers), packet))

    def deliver(self, is_cut):
        """Hands over what has arrived; returns the seconds until more does."""
        while self._under_way:
            left = self._under_way[0][0] - time.monotonic()
            if left > 0:
                return left
            packet = heapq.heappop(self._under_way)[2]
            try:
                if not is_cut:
                    os.write(self._target, packet)
            except BlockingIOError:
                pass  # the receiver's queue is full: lost
        return 3600.0


def _run_line(near, remote, delay, bytes_per_second):
    """Until the standard input ends, which it does when the parent process ends."""
    directions = [_Direction(near, remote, delay, bytes_per_second), _Direction(remote, near, delay, bytes_per_second)]
    is_cut = False
    while True:
        wait = min(direction.deliver(is_cut) for direction in directions)
        # select counts in microseconds, poll in milliseconds. It wakes a bit late.
        readable, _, _ = select.select([near, remote, 0], [], [], max(0, wait - 0.00005))
        for direction in directions:
            if direction.source in readable:
                direction.take(is_cut)
        if 0 in readable:
            word = os.read(0, 100).decode().strip()
            if not word:
                return
            is_cut = word == "cut"
            print(word, flush=True)


def main(near, remote, rtt_ms, mbit, mtu):
    os.setsid()  # an interrupt from the terminal is for the tests, which then end this
    try:
        ends = _make_device(near, NEAR_ADDRESS, REMOTE_ADDRESS, mtu), _make_device(remote, REMOTE_ADDRESS, NEAR_ADDRESS, mtu)
        print("ready", flush=True)
        _run_line(*ends, float(rtt_ms) / 2000, float(mbit) * 1e6 / 8)
    finally:
        for namespace in (near, remote):
            _remove(namespace)


if __name__ == "__main__":
    main(*sys.argv[1:])
