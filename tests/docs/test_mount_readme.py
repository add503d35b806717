# SPDX-License-Identifier: Apache-2.0
"""The README of each mount lists all names that the mount adds to those of a file."""

import re

from pages import read


def test_it_names_what_is_found_by_name():
    names = dict(re.findall(r'std::string_view k(\w+) = "([^"]+)"', read("fs/vfs/names/names.h")))
    assert len(names) > 15
    shown = read("fs/control/readme.cpp")
    missing = [name for name in names.values() if name not in shown]
    # The README of a mount does not mention the journal, which is beside the source.
    assert missing == [names["JournalSuffix"]], missing
    views = re.findall(r'{"(\.\w+)", Where::', read("fs/vfs/nodes/table_views.cpp"))
    assert views and all(view in shown for view in views), views
    assert "-o views=listed" in shown
