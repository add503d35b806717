# SPDX-License-Identifier: Apache-2.0
"""Puts the program into the wheel, and says for which machines the wheel then is."""

import glob
import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        installed = os.environ.get("TFILEFS_INSTALLED")
        if not installed:
            raise RuntimeError("TFILEFS_INSTALLED must name an installation of what was built: packaging/make-wheel makes one")
        platform = os.environ.get("TFILEFS_PLATFORM", sysconfig.get_platform())
        build_data["tag"] = f"py3-none-{platform.replace('-', '_').replace('.', '_')}"
        build_data["pure_python"] = False
        build_data["shared_scripts"][os.path.join(installed, "bin", "tfilefs")] = "tfilefs"
        # Where the program looks for it: beside the directory that it lies in itself. The portable program has it inside.
        for module in glob.glob(os.path.join(installed, "lib*", "**", "tfilefs-remote.so"), recursive=True):
            build_data["shared_data"][module] = os.path.relpath(module, installed)
        for part in glob.glob(os.path.join(installed, "share", "doc", "tfilefs", "licenses", "*")):
            build_data["extra_metadata"][part] = os.path.join("licenses", "libraries", os.path.basename(part))
        build_data["extra_metadata"][os.path.join(self.root, "..", "..", "LICENSE")] = "LICENSE"
