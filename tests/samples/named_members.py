# SPDX-License-Identifier: Apache-2.0
"""named_members.py DIR: records whose members have names that the layout uses itself, unsplit and split (compiled.py)."""

import sys

import compiled

compiled.make("named_members", sys.argv[1], (0, 99), ((505, 32000, 40),))
