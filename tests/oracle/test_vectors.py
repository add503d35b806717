# SPDX-License-Identifier: Apache-2.0
"""std::vector and other collections of numbers as branches of their own."""

import os

import pytest

from oracle.compare import assert_table_equals_oracles


@pytest.mark.parametrize("codec", (0, 101, 505))
def test_vectors(samples, shared_mount, codec):
    directory = samples("vectors")
    file = f"vectors-{codec}.root"
    table = os.path.join(shared_mount(directory).path, file, "t")
    compared = assert_table_equals_oracles(
        table, os.path.join(directory, file), "t",
        root_only=("deque", "multiset"),  # uproot has no array for them
        raw_allowed=("nested0",),
    )
    assert len(compared) >= 18
