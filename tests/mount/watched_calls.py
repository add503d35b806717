# SPDX-License-Identifier: Apache-2.0
"""Calls that must return: a caller that waits too long gets an error with the reason."""

import contextlib
import threading
import time

DEADLINE = 60  # seconds in which every call must be answered


class Watch:
    """Kills the daemon if a call does not return: its caller then gets an error with the reason."""

    def __init__(self):
        self.process, self.hung, self._since = None, False, None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def call(self):
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None

    def _run(self):
        while not self._ended.wait(1):
            since = self._since
            if since is not None and time.monotonic() > since + DEADLINE and self.process is not None:
                self.hung = True
                self.process.kill()

    def close(self):
        self._ended.set()
        self._thread.join()
