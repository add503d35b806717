# SPDX-License-Identifier: Apache-2.0
"""versions.py DIR: trees of two versions of the same classes (versions.h), merged by hadd, which copies baskets
unchanged: old.root, new.root, and merged-old-new.root and merged-new-old.root, with the values that ROOT reads from
them in a .txt."""

import os
import sys

import compiled

directory = sys.argv[1]
programs = {}
for name, version in (("old", 1), ("new", 2)):
    work = os.path.join(directory, "program-" + name)
    os.mkdir(work)
    compiled.build("versions", work, "-O0", compiled.LIBRARIES, [f"-DPART_VERSION={version}"])
    compiled.run("./versions", "write", os.path.join(directory, name + ".root"), directory=work)
    programs[name] = work

for first, second in (("new", "old"), ("old", "new")):
    file = os.path.join(directory, f"merged-{first}-{second}")
    compiled.run(f"{compiled.BASE}/bin/hadd", "-f", file + ".root", f"{first}.root", f"{second}.root", directory=directory)
    compiled.run("./versions", "dump", file + ".root", file + ".txt", directory=programs["new"])
