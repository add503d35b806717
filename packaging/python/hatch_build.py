# SPDX-License-Identifier: Apache-2.0
"""Puts the program into the wheel, and says for which machines the wheel then is."""

import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ.get("TFILEFS_PROGRAM")
        if not program or not os.access(program, os.X_OK):
            raise RuntimeError("TFILEFS_PROGRAM must name the program that was built: packaging/make-wheel sets it")
        platform = os.environ.get("TFILEFS_PLATFORM", sysconfig.get_platform())
        build_data["tag"] = f"py3-none-{platform.replace('-', '_').replace('.', '_')}"
        build_data["pure_python"] = False
        build_data["shared_scripts"][program] = "tfilefs"
        build_data["extra_metadata"][os.path.join(self.root, "..", "..", "LICENSE")] = "LICENSE"
