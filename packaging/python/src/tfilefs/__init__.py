# SPDX-License-Identifier: Apache-2.0
"""ROOT files as directories, and as arrays of NumPy, Awkward and Arrow.

    with tfilefs.mount("run.root") as f:
        energy = f["Events"].numpy("energy")
"""

from ._error import MountError
from ._histogram import Axis, Histogram
from ._items import Directory, Object
from ._mount import Mount, mount
from ._table import Table

__all__ = ["Axis", "Directory", "Histogram", "Mount", "MountError", "Object", "Table", "mount"]
