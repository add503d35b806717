# SPDX-License-Identifier: Apache-2.0
"""Commands in a mount namespace whose /dev has only what they need: without fuse, or with a socket of a test as log."""

import os
import shlex
import subprocess


def script(directory, devices, log=None):
    """The lines of sh that make it; `directory` is used for the purpose."""
    new = shlex.quote(os.path.join(directory, "dev"))
    lines = ["set -e", f"mkdir -p {new}", f"mount -t tmpfs none {new}", f"ln -s /proc/self/fd {new}/fd"]
    for name, path in [*((each, f"/dev/{each}") for each in devices), *([("log", log)] if log else [])]:
        lines += [f"touch {new}/{name}", f"mount --bind {shlex.quote(path)} {new}/{name}"]
    return "\n".join([*lines, f"mount --rbind {new} /dev", ""])


def run(directory, devices, commands, log=None, **more):
    """Runs lines of sh there; they see mounts of their own."""
    return subprocess.run(["unshare", "--mount", "sh", "-c", script(directory, devices, log) + commands],
                          capture_output=True, text=True, timeout=300, **more)


USUAL = ("null", "zero", "full", "random", "urandom")
