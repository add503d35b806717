# SPDX-License-Identifier: Apache-2.0
"""The length and the seed of the crash tests. TFILEFS_CRASH=short (as in continuous integration) or long.
TFILEFS_CRASH_SEED=N repeats a run; without it, short runs are always the same, and each long run has a seed of its own,
printed at the end."""

import os
import random

LENGTHS = {
    # images per story, mounted images, kills, power cuts, operations of the model of a directory, operations of the
    # model of growing tables, seconds per race
    "short": dict(images=300, mounted_images=15, kills=20, cuts=5, operations=5_000, growing=6_000, race_seconds=8),
    "long": dict(images=3_000, mounted_images=200, kills=200, cuts=100, operations=100_000, growing=2_000_000, race_seconds=1200),
}

NAME = os.environ.get("TFILEFS_CRASH", "short")
LENGTH = LENGTHS[NAME]
SEED = int(os.environ.get("TFILEFS_CRASH_SEED", 1 if NAME != "long" else random.SystemRandom().randrange(1_000_000)))

lines = []  # printed at the end of the run


def report(line):
    lines.append(line)


def summary():
    return [f"crash tests: TFILEFS_CRASH={NAME} TFILEFS_CRASH_SEED={SEED}", *lines] if lines else []
