# SPDX-License-Identifier: Apache-2.0
"""object.json of every object in real files, compared with TBufferJSON by ROOT in separate processes. TFILEFS_CORPUS
names the folder of files; without it, this test is skipped with a message."""

import collections
import glob
import os

import pytest

import mounted
from oracle import object_json

CORPUS = os.environ.get("TFILEFS_CORPUS")
pytestmark = pytest.mark.corpus
SHARE_MIN = 0.95


def test_json_of_real_objects_is_roots(capsys):
    if not CORPUS:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    verdicts, told = collections.Counter(), []
    files = sorted(glob.glob(os.path.join(CORPUS, "files", "*.root")))
    # A ROOT process for each file takes a quarter of an hour in all. So only one file in eight is tested, unless all
    # are requested.
    for file in files if os.environ.get("TFILEFS_CORPUS_ALL") else files[::8]:
        try:
            with mounted.Mounted(file) as m:
                results = object_json.compare_file(file, m.path)
        except mounted.MountFailed:
            continue
        for path, cycle, class_name, verdict, differences, _ in results:
            verdicts[verdict] += 1
            if verdict in ("different", "unread"):
                told.append(f"{os.path.basename(file)}: {path};{cycle} ({class_name}): {verdict}: {differences[:2]}")
    compared = sum(count for verdict, count in verdicts.items() if verdict != "root cannot")
    share = verdicts["equal"] / max(compared, 1)
    with capsys.disabled():
        print(f"\nobject.json: {verdicts['equal']} of {compared} equal ({share:.1%}), ROOT cannot: {verdicts['root cannot']}")
        print("\n".join(line[:300] for line in told))
    assert compared > 0 and share >= SHARE_MIN
