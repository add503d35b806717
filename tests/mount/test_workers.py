# SPDX-License-Identifier: Apache-2.0
"""Eight workers on eight mounts share ten files of a server through a caching proxy, as machines of a cluster do: each takes
clusters in turn. Their numbers are right together, and each block leaves the origin once."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import uproot

import mounted
from xrootd_server import XrootdServer

FILES, CLUSTERS, ENTRIES = 10, 8, 20_000
COLUMNS = ("a", "b")
BLOCK = 128 << 10

WORKER = """
import json, os, sys
import numpy as np
mount, number, workers, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
sums, turn = dict.fromkeys(names, 0.0), 0
for file in sorted(os.listdir(mount)):
    table = os.path.join(mount, file, "T")
    bounds = json.load(open(os.path.join(table, ".schema.json")))["clusters"]
    columns = {name: np.memmap(os.path.join(table, name + ".f8"), "<f8", "r") for name in names}
    for begin, end in zip(bounds, bounds[1:]):
        turn += 1
        if turn % workers == number:
            for name in names:
                sums[name] += float(columns[name][begin:end].sum())
print(json.dumps(sums))
"""


def values_of(file, name):
    return np.random.default_rng(FILES * COLUMNS.index(name) + file).random(CLUSTERS * ENTRIES)


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    directory = tmp_path_factory.mktemp("origin")
    with XrootdServer() as server:
        for number in range(FILES):
            path = directory / f"run{number}.root"
            with uproot.recreate(path, compression=None) as file:
                tree = file.mktree("T", {name: "f8" for name in (*COLUMNS, "unread")})
                arrays = {name: np.split(values_of(number, name), CLUSTERS) for name in COLUMNS}
                for cluster in range(CLUSTERS):
                    tree.extend({name: arrays[name][cluster] for name in COLUMNS} | {"unread": np.zeros(ENTRIES)})
            server.put(path)
        yield server


def proxy_of(server):
    return XrootdServer("ofs.osslib libXrdPss.so", f"pss.origin 127.0.0.1:{server.port}", "pss.cachelib libXrdPfc.so",
                        f"pfc.blocksize {BLOCK >> 10}k", "pfc.prefetch 0", "pfc.ram 1g", "oss.localroot {base}/data")


def test_each_block_leaves_the_origin_once(origin):
    with proxy_of(origin) as proxy:
        mounts = [mounted.Mounted(proxy.url(""), ("timeout=20",)) for _ in range(8)]
        try:
            workers = [subprocess.Popen([sys.executable, "-c", WORKER, m.path, str(number), str(len(mounts)), ",".join(COLUMNS)],
                                        stdout=subprocess.PIPE, text=True) for number, m in enumerate(mounts)]
            sums = [json.loads(worker.communicate(timeout=60)[0]) for worker in workers]
        finally:
            for m in mounts:
                m.close()
        for name in COLUMNS:
            wanted = sum(values_of(number, name).sum() for number in range(FILES))
            assert abs(sum(each[name] for each in sums) - wanted) < 1e-6 * wanted
        # The proxy asks for a block at a time.
        sizes = [os.path.getsize(origin.path(f"run{number}.root")) for number in range(FILES)]
        asked = origin.requests().count("pgread") + origin.requests().count("read")
        assert 0 < asked <= sum(-(-size // BLOCK) for size in sizes)
