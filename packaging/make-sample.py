# SPDX-License-Identifier: Apache-2.0
"""make-sample.py FILE: a ROOT file as an analysis leaves it: directories of histograms, and a tree of events."""

import sys

import awkward
import numpy as np
import uproot

random = np.random.default_rng(1)
with uproot.recreate(sys.argv[1]) as file:
    for detector in ("tracker", "calorimeter"):
        for layer in range(3):
            hits = random.normal(layer, 1 + layer, 5000)
            file[f"{detector}/layer{layer}/hits"] = np.histogram(hits, bins=40, range=(-10, 10))
        file[f"{detector}/occupancy"] = np.histogram2d(random.normal(size=5000), random.normal(size=5000), bins=(20, 20))
    tree = file.mktree("Events", {"run": "i4", "energy": "f4", "position": np.dtype(("f8", (3,))),
                                  "Muon_pt": "var * float32", "trigger": "string"}, title="Events of a made-up run")
    for batch in range(5):
        entries = 20000
        muons = random.integers(0, 4, entries)
        tree.extend({
            "run": np.full(entries, 2024 + batch, "i4"),
            "energy": random.exponential(30, entries).astype("f4"),
            "position": random.normal(size=(entries, 3)),
            "Muon_pt": awkward.unflatten(random.exponential(20, muons.sum()).astype("f4"), muons),
            "trigger": awkward.Array([("single", "double", "none")[i % 3] for i in range(entries)]),
        })
