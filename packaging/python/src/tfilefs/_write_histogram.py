# SPDX-License-Identifier: Apache-2.0
"""Histograms that are written: arrays of bins and edges, of which the mount makes an object of ROOT."""

from __future__ import annotations

import os
from typing import Any


def is_histogram(value: Any) -> bool:
    """What numpy.histogram gives, and what hist, boost_histogram and uproot have."""
    if isinstance(value, tuple):
        return len(value) in (2, 3, 4) and all(hasattr(part, "__len__") for part in value)
    return callable(getattr(value, "values", None)) and hasattr(value, "axes") and hasattr(value, "kind")


def write_histogram(path: str, value: Any) -> None:
    """A new object. TypeError for what ROOT's histograms of arrays do not have: means, names of bins."""
    arrays = _of_numpy(value) if isinstance(value, tuple) else _of_axes(value)
    import numpy as np

    for name, array in arrays.items():
        if np.asarray(array).dtype.kind not in "biuf" or np.ma.is_masked(array):
            raise TypeError(f"{name} are no array of real numbers, or some are masked")
    os.makedirs(path)
    for name, array in arrays.items():
        os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
        np.save(os.path.join(path, name + ".npy"), np.ascontiguousarray(array, np.float64))


def _edges(edges: Any) -> dict[str, Any]:
    if len(edges) > 3:
        raise TypeError(f"a histogram of {len(edges)} axes is not written")
    return {f"{letter}edges": each for letter, each in zip("xyz", edges)}


def _of_numpy(value: Any) -> dict[str, Any]:
    values, *edges = value
    edges = edges[0] if len(edges) == 1 and isinstance(edges[0], (list, tuple)) and hasattr(edges[0][0], "__len__") else edges  # histogramdd
    return {"values": values, **_edges(edges)}


def _of_axes(value: Any) -> dict[str, Any]:
    import numpy as np

    if "MEAN" in str(value.kind).upper():
        raise TypeError("a profile is not written: it has means, and not the sums that a histogram is made of")
    axes = list(value.axes)
    if any(isinstance(bin, str) for axis in axes for bin in axis):
        raise TypeError("an axis with names of bins is not written")
    arrays = {"values": value.values(), **_edges([np.asarray(axis.edges) if not callable(axis.edges) else axis.edges() for axis in axes])}
    variances = value.variances()
    if variances is not None:
        arrays["variances"] = variances
    whole = value.values(flow=True)
    if whole.shape == tuple(len(axis) + 2 for axis in axes):
        arrays["flow/values"] = whole
        if variances is not None:
            arrays["flow/variances"] = value.variances(flow=True)
    return arrays
