# SPDX-License-Identifier: Apache-2.0
"""Names of types for those who check them. A class with a method `numpy` cannot name numpy.ndarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import awkward
    import numpy

    NumpyArray = numpy.ndarray[Any, Any]
    NumpyArrays = dict[str, NumpyArray]
    AwkwardArray = awkward.Array
