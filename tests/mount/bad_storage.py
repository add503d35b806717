# SPDX-License-Identifier: Apache-2.0
"""A program with bad storage: failing_reads.so of the build, and the environment that enables it."""

import os

import pytest

import mounted

LIBRARY = os.path.realpath(os.path.join(os.path.dirname(mounted.program()), "..", "tests", "failing_reads.so"))
needs_library = pytest.mark.skipif(not os.path.exists(LIBRARY), reason=f"{LIBRARY} is not built")


def environment(**told):
    return dict(os.environ, LD_PRELOAD=LIBRARY, **{name: os.fspath(value) for name, value in told.items()})
