# SPDX-License-Identifier: Apache-2.0
"""A command that has a terminal: `on_a_terminal([program, "ls", path], "stdout", TERM="xterm")`."""

import os
import pty
import subprocess


def on_a_terminal(arguments, stream="stderr", **environment):
    """The exit status, and what the command writes to one of its streams there."""
    master, slave = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: slave}
    with subprocess.Popen(arguments, stdin=slave, env=os.environ | environment, **streams) as process:
        os.close(slave)
        said = b""
        try:
            while piece := os.read(master, 65536):
                said += piece
        except OSError:  # the terminal is closed
            pass
        os.close(master)
    return process.returncode, said.decode()
