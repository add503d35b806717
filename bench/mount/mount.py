# SPDX-License-Identifier: Apache-2.0
"""A fresh mount for a measurement, and the programs that measure through it."""

import os
import subprocess
import tempfile
import time

import rounds


def build_directory():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.realpath(os.environ.get("TFILEFS_BENCH_BUILD", os.path.join(here, "..", "..", "build")))


def output(*command):
    """The numbers that a program prints."""
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in result.stdout.split()]


class Mount:
    """A mount of one file, or of what the options say, and what its daemon has used. prefix: what the program is run by."""

    def __init__(self, *sources, options=(), prefix=()):
        self.directory = tempfile.TemporaryDirectory(prefix="bench-")
        self.path = self.directory.name
        subprocess.run([*prefix, rounds.program(), *options, *sources, self.path], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # polars unmaps files in its own threads, a moment after its answer.
        until = time.monotonic() + 2
        while subprocess.run([rounds.program(), "umount", self.path], stderr=subprocess.DEVNULL).returncode != 0:
            if time.monotonic() > until:
                raise RuntimeError(f"{self.path} cannot be unmounted")
            time.sleep(0.02)
        self.directory.cleanup()

    def _of_daemon(self, name):
        with open(os.path.join(self.path, ".tfilefs", "stats.json")) as file:
            pid = int(file.read().split('"pid":')[1].split(",")[0])
        with open(f"/proc/{pid}/{name}") as file:
            return file.read()

    def daemon_cpu(self):
        fields = self._of_daemon("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_memory(self):
        """Maximum resident memory of the daemon in kB."""
        return int(self._of_daemon("status").split("VmHWM:")[1].split()[0])
