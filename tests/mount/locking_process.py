# SPDX-License-Identifier: Apache-2.0
"""A process that opens files and locks them, as it is told: locks belong to a process, so a test needs several."""

import errno
import fcntl
import multiprocessing
import os
import signal
import struct

from watched_calls import DEADLINE

TYPES = {"read": fcntl.F_RDLCK, "write": fcntl.F_WRLCK, "none": fcntl.F_UNLCK}
FLOCK = {"read": fcntl.LOCK_SH, "write": fcntl.LOCK_EX, "none": fcntl.LOCK_UN}
COMMANDS = {"posix": (fcntl.F_SETLK, fcntl.F_SETLKW), "ofd": (fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW)}
TESTS = {"posix": fcntl.F_GETLK, "ofd": fcntl.F_OFD_GETLK}
FORM = "hhqqi4x"  # struct flock


class Interrupted(Exception):
    pass


def interrupt(*_):
    raise Interrupted


class Files:
    def __init__(self):
        self._open = {}

    def open(self, name, path, flags=os.O_RDWR):
        self._open[name] = os.open(path, flags)

    def close(self, name):
        os.close(self._open.pop(name))

    def duplicate(self, name, of):
        self._open[name] = os.dup(self._open[of])

    def lock(self, how, name, kind, begin=0, length=0, waits=False):
        """True if it was granted, False if another has it, None if it was interrupted."""
        try:
            if how == "flock":
                fcntl.flock(self._open[name], FLOCK[kind] | (0 if waits else fcntl.LOCK_NB))
            else:
                asked = struct.pack(FORM, TYPES[kind], os.SEEK_SET, begin, length, 0)
                fcntl.fcntl(self._open[name], COMMANDS[how][waits], asked)
            return True
        except Interrupted:
            return None
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            return False

    def test(self, how, name, kind, begin=0, length=0):
        """The lock that is in the way: its kind, begin and length."""
        asked = struct.pack(FORM, TYPES[kind], os.SEEK_SET, begin, length, 0)
        found, _, begin, length, _ = struct.unpack(FORM, fcntl.fcntl(self._open[name], TESTS[how], asked))
        return next(name for name, number in TYPES.items() if number == found), begin, length

    def read(self, name, size, offset):
        return os.pread(self._open[name], size, offset)


class LockingProcess:
    """p.open("a", path); p.lock("posix", "a", "write"): as the functions of Files, in the process."""

    def __init__(self):
        self._pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=self._serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def __getattr__(self, action):
        def call(*arguments, **more):
            self.start(action, *arguments, **more)
            return self.answer()

        return call

    def start(self, action, *arguments, **more):
        self._pipe.send((action, arguments, more))

    def has_answered(self, seconds=0):
        return self._pipe.poll(seconds)

    def answer(self):
        if not self._pipe.poll(DEADLINE):
            raise TimeoutError("the call of another process hangs")
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def signal(self, number=signal.SIGUSR1):
        os.kill(self.process.pid, number)

    def end(self):
        self.process.kill()
        self.process.join()
        self._pipe.close()

    @staticmethod
    def _serve(pipe):
        signal.signal(signal.SIGUSR1, interrupt)
        files = Files()
        while True:
            try:
                action, arguments, more = pipe.recv()
            except EOFError:
                return
            try:
                pipe.send(getattr(files, action)(*arguments, **more))
            except OSError as error:
                pipe.send(error)
