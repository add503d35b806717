# SPDX-License-Identifier: Apache-2.0
"""Shared by the crash tests: one reader of images."""

import pytest

import checker


@pytest.fixture(scope="session")
def reader():
    with checker.Reader() as reader:
        yield reader
