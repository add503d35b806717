# SPDX-License-Identifier: Apache-2.0
"""What is given to be written as a table, as one array for each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def columns_of(data: Any) -> dict[str, Any]:
    """{name: array of NumPy or Awkward Array}. TypeError, or ValueError for two columns of one name, if it is no table."""
    if isinstance(data, Mapping):
        for name in data:
            if not isinstance(name, str):
                raise TypeError(f"the name of a column is a text, which {name!r} is not")
        return {name: _column(name, value) for name, value in data.items()}
    if getattr(getattr(data, "dtype", None), "names", None):
        return {name: _column(name, data[name]) for name in data.dtype.names}  # a structured array of NumPy
    if hasattr(data, "collect_schema") and hasattr(data, "lazy"):  # of polars; its columns are known when it is computed
        data = data.collect() if hasattr(data, "collect") else data
    names = getattr(data, "fields", None) or getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is None or len(names) == 0:
        raise TypeError(f"{type(data).__name__} is no table: a dictionary of arrays, records of Awkward Array, a structured array of "
                        "NumPy, a DataFrame of pandas or polars, and a table of Arrow are")
    texts = [str(name) for name in names]
    if twice := [name for name in texts if texts.count(name) > 1]:
        raise ValueError(f"two columns have the name {twice[0]}")
    return {text: _column(text, data[name]) for text, name in zip(texts, names)}


def _column(name: str, value: Any) -> Any:
    """TypeError with the name for whatever a library says of what it does not take."""
    if isinstance(value, str):
        raise TypeError(f"{name}: a text is no column, which has a value for each entry")
    try:
        column = _array(value)
        len(column)
    except MemoryError:
        raise
    except Exception as error:
        said = str(error).split("\n")[0] or type(error).__name__
        raise TypeError(f"{name}: {type(value).__name__} is not written as a column: {said}") from error
    return column


def _array(value: Any) -> Any:
    import numpy as np

    library = type(value).__module__.partition(".")[0]
    if library == "awkward":
        return value
    if library in ("polars", "pyarrow"):
        import awkward as ak

        return ak.from_arrow(value.to_arrow() if library == "polars" else value)
    if np.ma.is_masked(value):
        raise ValueError("masked values are not written: filled() replaces them")
    if library == "pandas" and not (isinstance(value.dtype, np.dtype) and value.dtype.kind in "biuf") and bool(value.isna().any()):
        raise ValueError("nulls are not written: fillna() replaces them")
    array = _of_list(value) if isinstance(value, (list, tuple)) else np.asarray(value)
    if array.dtype.kind in "OUS":
        import awkward as ak

        return ak.from_iter(_as_lists(array))
    return array


def _of_list(value: Any) -> Any:
    import numpy as np

    try:
        return np.asarray(value)
    except ValueError:  # lists of different lengths
        found = np.empty(len(value), object)
        found[:] = list(value)
        return found


def _as_lists(value: Any) -> Any:
    """With arrays in arrays of objects and in lists as lists, too: awkward.from_iter takes no others."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return _as_lists(value.tolist()) if value.dtype.kind == "O" else value.tolist()
    return [_as_lists(each) for each in value] if isinstance(value, list) else value


def as_lists(array: Any, depth: int, dtype: str) -> Any:
    """An array of fixed shape as lists, which happen to have the same lengths, in lists, `depth` times; of that type if there is
    nothing in them."""
    import awkward as ak
    import numpy as np

    if array.size == 0:
        return ak.enforce_type(ak.Array(array.tolist()), "var * " * depth + np.dtype(dtype).name)
    lists = ak.Array(array)
    for axis in range(1, depth + 1):
        lists = ak.from_regular(lists, axis=axis)
    return lists
