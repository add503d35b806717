# SPDX-License-Identifier: Apache-2.0
"""A process beside the test: the test does not wait for its operations, and its mappings are not in the test
process."""

import errno
import mmap
import multiprocessing
import os

import mounted
from watched_calls import DEADLINE


class OtherProcess:
    """Fsyncs directories in the background, and reads through mappings."""

    def __init__(self):
        self._pipe, other = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=self._serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._waiting = 0

    def start(self, *request):
        self._pipe.send(request)
        self._waiting += 1

    def answers(self):
        """The answers of all operations that were started."""
        answers = []
        while self._waiting:
            if not self._pipe.poll(DEADLINE):
                raise TimeoutError("another process' call hangs")
            answers.append(self._pipe.recv())
            self._waiting -= 1
        return answers

    def close(self):
        self._pipe.close()
        self._process.kill()
        self._process.join()

    @staticmethod
    def _serve(pipe):
        while True:
            try:
                action, path = pipe.recv()
                try:
                    pipe.send({"sync": mounted.fsync, "map": read_mapped}[action](path))
                except OSError as error:
                    pipe.send(error)
            except (EOFError, OSError):
                return


def read_mapped(path):
    while True:
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    return b""
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
                    return memory[:]
        except OSError as error:
            # The opened state was replaced by a commit. Python's mmap() maps nothing if fstat says so.
            if error.errno not in (errno.ESTALE, errno.EINVAL):
                raise
