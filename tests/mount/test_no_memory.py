# SPDX-License-Identifier: Apache-2.0
"""An allocation that fails is an error of the request that needs it: nothing ends, and nobody waits for ever."""

import os
import random
import subprocess

import awkward as ak
import numpy as np
import pytest
import uproot

import mounted

LIBRARY = os.path.realpath(os.path.join(os.path.dirname(mounted.program()), "..", "tests", "failing_new.so"))
TRIES = 60


@pytest.mark.skipif(not os.path.exists(LIBRARY), reason="not beside a sanitizer's own operator new")
def test_each_allocation_may_fail(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file["T"] = {"x": np.arange(4.0), "jet": ak.Array([[1.0], [], [2.0, 3.0], []])}
        file["h"] = np.histogram(np.arange(100.0), bins=20)

    def listed(**environment):
        environment = {"LD_PRELOAD": LIBRARY, **environment}
        return subprocess.run([mounted.program(), "ls", "-R", tmp_path / "a.root"], env={**os.environ, **environment},
                              capture_output=True, timeout=60)

    assert listed(COUNT_NEW=str(tmp_path / "count")).returncode == 0
    count = int((tmp_path / "count").read_text())
    assert count > 1000
    choose = random.Random(3)
    statuses = []
    for _ in range(TRIES):
        number = choose.randrange(500, count)  # the first ones are of the parser, before main()
        done = listed(FAILING_NEW=str(number))
        assert done.returncode in (0, 1), (number, done)
        assert done.returncode == 0 or done.stderr.startswith(b"tfilefs: "), (number, done)
        statuses.append(done.returncode)
    assert statuses.count(1) > TRIES // 2
