# SPDX-License-Identifier: Apache-2.0
"""What the crash tests share: one reader of images, and the figures at the end."""

import pytest

import campaign
import checker


@pytest.fixture(scope="session")
def reader():
    with checker.Reader() as reader:
        yield reader


def pytest_terminal_summary(terminalreporter):
    for line in campaign.summary():
        terminalreporter.write_line(line)
