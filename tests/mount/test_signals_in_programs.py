# SPDX-License-Identifier: Apache-2.0
"""Programs that get signals all the time, as those of Go, profilers and timers: no call of theirs ends with EINTR, and
none is made twice."""

import subprocess
import sys

import mounted

# Calls that Python does not make again by itself, and one that would write twice if it did.
PROGRAM = """
import ctypes, os, signal, sys, threading, time
signal.signal(signal.SIGUSR1, lambda *_: None)
over = threading.Event()
main = threading.main_thread().ident
def disturb():
    while not over.is_set():
        signal.pthread_kill(main, signal.SIGUSR1)
        time.sleep(0.0002)
threading.Thread(target=disturb, daemon=True).start()
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    ctypes.set_errno(0)
    done = getattr(libc, function)(*arguments)
    assert done >= 0, (function, arguments, os.strerror(ctypes.get_errno()))
    return done
for number in range(int(sys.argv[1])):
    name = f"f{number}.root".encode()
    call("mkdir", name, 0o755)
    call("mkdir", name + b"/T", 0o755)
    file = call("open", name + b"/T/x.i4", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for _ in range(4):
        assert call("write", file, b"abcd" * 64, 256) == 256
    call("close", file)
    call("rename", name + b"/T/x.i4", name + b"/T/y.i4")
    with open(name + b"/T/y.i4", "rb") as column:
        assert len(column.read()) == 1024
    call("unlink", name + b"/T/y.i4")
    call("rmdir", name + b"/T")
    call("rmdir", name)
    plain = call("open", b"plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    assert call("write", plain, b"line\\n", 5) == 5
    call("close", plain)
    call("rename", b"plain", b"other")
    call("rename", b"other", b"plain")
over.set()
"""
ROUNDS = 60


def test_no_call_is_interrupted(tmp_path):
    with mounted.Mounted(tmp_path, ("rw", "commit=3600")) as m:
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(ROUNDS)], cwd=m.path, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "plain").read_text() == ROUNDS * "line\n"
