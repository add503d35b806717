# SPDX-License-Identifier: Apache-2.0
"""How long the crash tests run and from which seed: TFILEFS_CRASH=short (as continuous integration does) or long, and
TFILEFS_CRASH_SEED=N, which repeats a run; without it short runs are the same each time and long ones have
their own, printed at its end."""

import os
import random

LENGTHS = {
    # images a story, of them mounted, kills, power cuts, operations of the model of a directory, and of the model of tables
    # that grow, seconds of a race
    "short": dict(images=300, mounted_images=15, kills=20, cuts=5, operations=5_000, growing=6_000, race_seconds=8),
    "long": dict(images=3_000, mounted_images=200, kills=200, cuts=100, operations=100_000, growing=2_000_000, race_seconds=1200),
}

NAME = os.environ.get("TFILEFS_CRASH", "short")
LENGTH = LENGTHS[NAME]
SEED = int(os.environ.get("TFILEFS_CRASH_SEED", 1 if NAME != "long" else random.SystemRandom().randrange(1_000_000)))

lines = []  # for the end of the run


def report(line):
    lines.append(line)


def summary():
    return [f"crash tests: TFILEFS_CRASH={NAME} TFILEFS_CRASH_SEED={SEED}", *lines] if lines else []
