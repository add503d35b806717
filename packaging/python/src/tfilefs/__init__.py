# SPDX-License-Identifier: Apache-2.0
"""ROOT files as directories, and as arrays of NumPy, Awkward and Arrow.

    with tfilefs.mount("run.root") as f:
        energy = f["Events"].numpy("energy")
"""

from __future__ import annotations

from ._column import Column
from ._error import MountError
from ._histogram import Axis, Histogram
from ._items import Directory, Object
from ._many import concatenate, dask, iterate
from ._mount import Mount, Opened, create, mount, open
from ._table import Table
from ._write import StagedTable

__all__ = ["Axis", "Column", "Directory", "Histogram", "Mount", "MountError", "Object", "Opened", "StagedTable", "Table", "concatenate", "create", "dask", "iterate", "mount", "open"]

__version__: str


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module 'tfilefs' has no attribute {name!r}")
    from importlib import metadata

    try:
        return metadata.version("tfilefs")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "0"
