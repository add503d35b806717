# SPDX-License-Identifier: Apache-2.0
"""Runs scripts that import ROOT in their own processes: ROOT continues after errors, and its crashes end Python. They are
forked from one in which ROOT is started already (root_server.py)."""

import atexit
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Output of ROOT that shows an error although the process ends successfully.
COMPLAINTS = ("Error in <", "SysError in <", "Fatal in <", "error:", "*** Break ***")


class Server:
    """The process in which ROOT is started: one of this process, made when it is first needed."""

    _one = None

    @classmethod
    def one(cls):
        if cls._one is None or cls._one._owner != os.getpid():
            cls._one = cls()
        return cls._one

    def __init__(self):
        self._owner = os.getpid()
        self._connection, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen([sys.executable, os.path.join(HERE, "root_server.py")], stdin=other,
                                             stdout=subprocess.DEVNULL, env=dict(os.environ, PYTHONWARNINGS="ignore"), start_new_session=True)
        atexit.register(self._end)

    def _end(self):
        if self._owner == os.getpid():
            self._connection.close()
            self._process.wait()

    def _number(self, timeout):
        self._connection.settimeout(timeout)
        line = b""
        while not line.endswith(b"\n"):
            byte = self._connection.recv(1)
            if not byte:
                raise RuntimeError("the process with ROOT in it ended")
            line += byte
        return int(line)

    def run(self, job, output, errors, timeout):
        """The exit status. Raises TimeoutExpired, with the process killed."""
        message = json.dumps(job).encode() + b"\n"
        sent = socket.send_fds(self._connection, [message], [output.fileno(), errors.fileno()])
        self._connection.settimeout(None)
        self._connection.sendall(message[sent:])
        process = self._number(120)
        try:
            return self._number(timeout)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self._number(60)
            raise subprocess.TimeoutExpired(job["arguments"], timeout) from None


def run_code(code, *arguments, name="-c", path=("",), cwd=None, env=None, timeout=600, check=False):
    """Like subprocess.run([python, "-c", code, ...], capture_output=True, text=True)."""
    arguments = [name, *map(str, arguments)]
    job = {"code": code, "name": name, "arguments": arguments, "path": list(path), "directory": os.path.abspath(cwd or os.getcwd()),
           "environment": dict(env or os.environ, PYTHONWARNINGS="ignore")}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        status = Server.one().run(job, output, errors, timeout)
        said = []
        for file in (output, errors):
            file.seek(0)
            said.append(file.read().decode(errors="replace"))
    done = subprocess.CompletedProcess(arguments, status, *said)
    if check and status != 0:
        raise RuntimeError(f"{name} ended with {status}:\n{said[0]}{said[1]}")
    return done


def run_script(script, arguments, tolerate=()):
    """Runs tests/SCRIPT; raises with all of its output if it failed or ROOT complained (except for `tolerate`)."""
    path = os.path.join(HERE, script)
    with open(path, encoding="utf-8") as file:
        code = file.read()
    with tempfile.TemporaryDirectory(prefix="root-process-") as directory:
        result = run_code(code, *arguments, name=path, path=(os.path.dirname(path), HERE), cwd=directory,
                          env=dict(os.environ, PYTHONPATH=HERE))
    said = result.stdout + result.stderr
    complaints = [
        line for line in said.splitlines()
        if any(text in line for text in COMPLAINTS) and not any(text in line for text in tolerate)
    ]
    if result.returncode != 0 or complaints:
        raise RuntimeError(f"{script} ended with {result.returncode}:\n{said[-4000:]}")
    return said


def read_with_root(file, tree, tolerate=()):
    """The values that ROOT reads: {branch: values}, as described in oracle/root_reader.py."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as answer:
        run_script(os.path.join("oracle", "root_reader.py"), [os.path.abspath(file), tree, answer.name], tolerate)
        with open(answer.name, "rb") as file_of_answer:
            return pickle.load(file_of_answer)
