# SPDX-License-Identifier: Apache-2.0
"""Locks that a fork does not inherit."""

from __future__ import annotations

import os
import threading


class Locks:
    """Of the threads of one process, by names. A fork has others: what a thread of its parent held would be locked there for
    ever."""

    def __init__(self) -> None:
        self._locks: dict[tuple[int, str], threading.Lock] = {}

    def of(self, name: str = "") -> threading.Lock:
        return self._locks.setdefault((os.getpid(), name), threading.Lock())
