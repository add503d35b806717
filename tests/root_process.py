# SPDX-License-Identifier: Apache-2.0
"""Runs a script that imports ROOT in its own process: ROOT continues after errors, and its crashes end Python."""

import os
import pickle
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Output of ROOT that shows an error although the process ends successfully.
COMPLAINTS = ("Error in <", "SysError in <", "Fatal in <", "error:", "*** Break ***")


def run_script(script, arguments, tolerate=()):
    """Runs tests/SCRIPT; raises with all of its output if it failed or ROOT complained (except for `tolerate`)."""
    environment = dict(os.environ, PYTHONWARNINGS="ignore", PYTHONPATH=HERE)
    with tempfile.TemporaryDirectory(prefix="root-process-") as directory:
        result = subprocess.run(
            [sys.executable, os.path.join(HERE, script), *arguments],
            cwd=directory, env=environment, capture_output=True, text=True, errors="replace", timeout=600,
        )
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
