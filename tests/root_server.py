# SPDX-License-Identifier: Apache-2.0
"""A process that has ROOT started, and forks for each script that a test runs with it (root_process.py): ROOT takes a
second to start, its compiler another, and RDataFrame two more. What a script does stays in its own process.

A job comes through the socket on standard input: a line of JSON and the descriptors of its output and errors. The
answers are the number of its process, and its exit status."""

import builtins
import json
import os
import signal
import socket
import sys


def start_root():
    import ROOT

    ROOT.gROOT.SetBatch()
    ROOT.gInterpreter.Declare("namespace root_server { int started() { return 1; } }")
    frame = ROOT.RDataFrame(1).Define("x", "1.0").Define("n", "int(rdfentry_)")
    frame.AsNumpy(["x", "n"])
    ROOT.RNTupleModel.Create()
    return ROOT


def take_job(connection):
    """(job, descriptors), or nothing at the end."""
    message, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 2)
    while message and not message.endswith(b"\n"):
        message += connection.recv(1 << 20)
    return (json.loads(message), descriptors) if message else (None, [])


def become(job, descriptors, ROOT):
    """The process of the job: its output, place, environment and arguments."""
    for number, descriptor in enumerate(descriptors, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.environ.clear()
    os.environ.update(job["environment"])
    # ROOT's handlers make a trace of the stack, which needs malloc(3): a crash inside of that never ended.
    for crash in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
        signal.signal(crash, signal.SIG_DFL)
    ROOT.gSystem.ChangeDirectory(job["directory"])
    sys.argv = job["arguments"]
    sys.path[:0] = job["path"]


def main():
    connection = socket.socket(fileno=os.dup(0))
    ROOT = start_root()
    while True:
        job, descriptors = take_job(connection)
        if job is None:
            os._exit(0)
        child = os.fork()
        if child == 0:
            connection.close()
            become(job, descriptors, ROOT)
            return job
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def run(job):
    """As a program of its own: its names are those of __main__."""
    code = compile(job["code"], job["name"], "exec")
    namespace = sys.modules["__main__"].__dict__
    own = {"__name__": "__main__", "__builtins__": builtins, "__file__": job["name"]}
    namespace.clear()
    namespace.update(own)
    exec(code, namespace)


run(main())
