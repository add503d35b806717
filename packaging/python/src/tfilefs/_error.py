# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a mount."""


class MountError(OSError):
    """The file could not be mounted, or not unmounted, and the text is what the program said; or the mount has gone."""
