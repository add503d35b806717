# SPDX-License-Identifier: Apache-2.0
"""The crash tests applied to a correct protocol, and to the same protocol without one of its barriers."""

import os
import subprocess
import sys

import numpy
import pytest

import campaign
import crash_run
import recording
from checker import State, Table

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = campaign.LENGTH["images"]
SEED = campaign.SEED

COLUMNS = {
    "px": lambda n: numpy.arange(n, dtype="<f4") * numpy.float32(0.5),
    "n": lambda n: (numpy.arange(n) * 7).astype("<i4"),
}
STATES = {"none": State(None)} | {str(k): State({"Events": Table(COLUMNS, [1000 * k])}) for k in (1, 2, 3)}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    base = tmp_path_factory.mktemp("two-barriers")
    for name in "dir", "initial":
        (base / name).mkdir()
    made = subprocess.run(
        [sys.executable, os.path.join(HERE, "protocol_template.py"), base / "template.root"],
        capture_output=True,
        text=True,
        check=True,
    )
    places = made.stdout.strip().splitlines()[-1]
    crash_run.record(
        [
            sys.executable,
            os.path.join(HERE, "two_barriers.py"),
            base / "template.root",
            places,
            base / "dir" / "out.root",
        ],
        base / "dir",
        base / "log",
    )
    return crash_run.Run(recording.read_log(base / "log"), str(base / "initial"), "out.root", STATES)


def test_every_image_is_right(run, reader):
    verdict = crash_run.examine(run, reader, IMAGES, SEED)
    campaign.report(f"two barriers: {verdict}")
    assert verdict.images == IMAGES and verdict.kills > 20 and verdict.appended > 0
    assert verdict.failures == [], f"seed {SEED}: {verdict}"


@pytest.mark.parametrize("barrier", range(6))
def test_each_barrier_is_needed(run, reader, barrier):
    """New file: data, name. Later: records, head."""
    verdict = crash_run.examine(run, reader, IMAGES, SEED, ignored_syncs=[run.syncs()[barrier]], stop_at_first=True)
    assert verdict.failures != [], f"seed {SEED}: {verdict}"


def test_a_torn_head_is_found(run, reader):
    """The one fault that no barrier prevents is found, on request."""
    verdict = crash_run.examine(run, reader, 40, SEED, append_every=0, torn_heads=True)
    assert any(image.how.startswith("head torn") for image in verdict.wrong_images())
    assert verdict.wrong_images(killed=True) == [], f"seed {SEED}: {verdict}"
