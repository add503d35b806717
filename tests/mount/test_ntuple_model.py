# SPDX-License-Identifier: Apache-2.0
"""RNTuples of nested lists, records, maps, strings and variants grow in random pieces, in any order of their files; with
commits, kills, new mounts, truncations, renames, and fields that come and go in between. After each commit the mount and
uproot show the same entries, and after the last one ROOT does."""

import json
import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest
import uproot

import campaign
import mounted

MOST = 100  # entries
OPERATIONS = 60
DTYPES = {"f4": "<f4", "f8": "<f8", "i2": "<i2", "i4": "<i4", "b1": "?"}
CPP = {"f4": "float", "f8": "double", "i2": "std::int16_t", "i4": "std::int32_t", "b1": "bool"}
# A type is that of a number, "text", [items], {member: type} or (alternatives, ...).
CHOICE, PART = ("i4", "text", ["f4"]), ("f8", "text")
FIELDS = {
    "x": "f4", "flag": "b1", "name": "text", "hits": ["f4"], "deep": [["i4"]], "names": ["text"],
    "tracks": [{"pt": "f4", "id": "i2", "cells": ["f4"]}], "vertex": {"x": "f4", "ids": ["i4"], "label": "text"},
    "map": [{"key": "text", "value": "f8"}], "choice": CHOICE, "parts": [PART], "lists": [[CHOICE]],
    "record": {"a": "i4", "part": PART}, "records": [{"choice": CHOICE, "n": "i4"}],
}
# Prints the number of entries, and the values of fields of numbers, strings and lists of numbers.
READ = """
import json, os, sys, ROOT
kinds = {"x": float, "name": str, "hits": lambda values: [float(value) for value in values]}
columns = ROOT.RDataFrame("Events", sys.argv[1]).AsNumpy(sys.argv[2:]) if sys.argv[2:] else {}
entries = ROOT.RNTupleReader.Open("Events", sys.argv[1]).GetNEntries()
print(json.dumps([entries, {name: [kinds[name](value) for value in column] for name, column in columns.items()}]))
sys.stdout.flush()
os._exit(0)
"""


def cpp(kind):
    if isinstance(kind, list):
        return f"std::vector<{cpp(kind[0])}>"
    if isinstance(kind, tuple):
        return "std::variant<" + ",".join(map(cpp, kind)) + ">"
    return "std::string" if kind == "text" else CPP[kind]


def random_value(kind, chance):
    """What uproot makes of it; of a variant (alternative, value)."""
    if isinstance(kind, list):
        return [random_value(kind[0], chance) for _ in range(chance.choice([0, 0, 1, 2, 4]))]
    if isinstance(kind, dict):
        return {name: random_value(member, chance) for name, member in kind.items()}
    if isinstance(kind, tuple):
        tag = chance.randrange(len(kind))
        return tag, random_value(kind[tag], chance)
    if kind == "text":
        return "".join(chance.choice("abcdef") for _ in range(chance.choice([0, 1, 3, 8])))
    return chance.random() < 0.5 if kind == "b1" else chance.randrange(1000) * (0.5 if kind[0] == "f" else 1)


def shown(value, kind):
    """Without tags."""
    if isinstance(kind, list):
        return [shown(item, kind[0]) for item in value]
    if isinstance(kind, dict):
        return {name: shown(value[name], member) for name, member in kind.items()}
    return shown(value[1], kind[value[0]]) if isinstance(kind, tuple) else value


def files_of(path, kind, values):
    """{path: bytes} of a node."""
    if isinstance(kind, dict):
        return {p: b for name, member in kind.items() for p, b in files_of(f"{path}/{name}", member, [v[name] for v in values]).items()}
    if isinstance(kind, tuple):
        tags = np.array([tag for tag, _ in values], "i1")
        index = np.zeros(len(values), "<i8")
        found = {}
        for tag, alternative in enumerate(kind):
            index[tags == tag] = np.arange((tags == tag).sum())
            found |= files_of(f"{path}/{cpp(alternative)}", alternative, [value for at, value in values if at == tag])
        return found | {f"{path}/tags.i1": (tags + 1).tobytes(), f"{path}/index.i8": index.tobytes()}
    if kind != "text" and not isinstance(kind, list):
        return {f"{path}.{kind}": np.array(values, DTYPES[kind]).tobytes()}
    offsets = {f"{path}/offsets.i8": np.cumsum([0, *map(len, values)]).astype("<i8").tobytes()}
    if kind == "text":
        return offsets | {f"{path}/chars.u1": "".join(values).encode()}
    return offsets | files_of(f"{path}/values", kind[0], sum(values, []))


def variants_of(path, kind):
    """{directory: type} of the outermost variants."""
    if isinstance(kind, tuple):
        return {path: cpp(kind)}
    if isinstance(kind, list):
        return variants_of(f"{path}/values", kind[0])
    if isinstance(kind, dict):
        return {p: t for name, member in kind.items() for p, t in variants_of(f"{path}/{name}", member).items()}
    return {}


class Field:
    def __init__(self, name, seed):
        self.name, self.kind, self.committed, self._sizes = name, FIELDS[name], 0, {}
        chance = random.Random(f"{name} {seed}")
        self.values = [random_value(self.kind, chance) for _ in range(MOST)]
        self.bytes = files_of(name, self.kind, self.values)
        self.variants = variants_of(name, self.kind)
        self.top = name if os.path.dirname(next(iter(self.bytes))) else next(iter(self.bytes))

    def sizes(self, entries):
        if entries not in self._sizes:
            self._sizes[entries] = {p: len(b) for p, b in files_of(self.name, self.kind, self.values[:entries]).items()}
        return self._sizes[entries]

    def least(self, path):
        return self.sizes(self.committed)[path] if self.committed else 0


class Model:
    WEIGHTS = {"grow": 60, "commit": 8, "come": 3, "go": 2, "truncate": 4, "rename": 3, "sync": 5, "kill": 1.5, "remount": 1.5}

    def __init__(self, directory, seed):
        self.seed, self.chance, self.fields, self.written, self.longest = seed, random.Random(seed), {}, {}, {}
        self.directory, self.goal, self.history = directory, 5, []
        self.options = ("rw", "format=rntuple", "commit=" + self.chance.choice(["600", "0"]),
                        "autoflush=" + self.chance.choice(["1000", "30000000"]), "compression=" + self.chance.choice(["none", "zstd:3"]))
        self.file = os.path.join(directory, "a.root")
        self.m = mounted.Mounted(directory, self.options)
        os.makedirs(self.path())
        open(self.path(".rntuple"), "wb").close()
        for _ in range(4):
            self.come()

    def path(self, *below):
        return os.path.join(self.m.path, "a.root", "Events", *below)

    def come(self):
        if left := [name for name in FIELDS if name not in self.fields]:
            name = self.chance.choice(left)
            self.fields[name] = Field(name, f"{self.seed} {len(self.history)}")

    def go(self):
        if len(self.fields) < 2:
            return
        field = self.fields.pop(self.chance.choice(list(self.fields)))
        path = self.path(field.top)
        if os.path.exists(path):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        for path in field.bytes:
            self.written.pop(path, None), self.longest.pop(path, None)

    def append(self, field, path, size):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "ab") as file:
            file.write(field.bytes[path][self.written.get(path, 0) : size])
        self.written[path] = size
        for variant, kind in field.variants.items():
            if os.path.isdir(self.path(variant)):
                os.setxattr(self.path(variant), "user.tfilefs.class", kind.encode())

    def grow(self):
        field = self.chance.choice(list(self.fields.values()))
        path, size = self.chance.choice(list(field.sizes(self.goal).items()))
        at = self.written.get(path, 0)
        if at < size or path not in self.written:
            self.append(field, path, self.chance.choice([size, self.chance.randrange(at, size + 1)]))

    def commit(self):
        files = [(field, path) for field in self.fields.values() for path in field.bytes]
        self.chance.shuffle(files)
        for field, path in files:
            size = field.sizes(self.goal)[path]
            if path not in self.written or self.written[path] < size:
                self.append(field, path, size)
        done = subprocess.run([mounted.program(), "commit", self.path()], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + self.m.errors()
        for field in self.fields.values():
            field.committed = self.goal
        self.check()
        self.goal = min(MOST, self.goal + self.chance.choice([1, 3, 10, 40]))

    def check(self):
        self.see_what_is_left(self.goal)
        with uproot.open(self.file) as file:
            table = file["Events"]
            assert table.num_entries == self.goal and set(table.keys(recursive=False)) == set(self.fields)
            clusters = [(c.num_first_entry, c.num_first_entry + c.num_entries) for c in table.cluster_summaries]
            for field in self.fields.values():  # cluster by cluster, as uproot misreads variants of several
                found = sum((table[field.name].array(entry_start=a, entry_stop=b).tolist() for a, b in clusters), [])
                assert found == [shown(value, field.kind) for value in field.values[: self.goal]], field.name

    def check_with_root(self):
        simple = [name for name in ("x", "name", "hits") if name in self.fields]
        done = subprocess.run([sys.executable, "-c", READ, self.file, *simple], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        entries, found = json.loads(done.stdout.splitlines()[-1])
        wanted = max(field.committed for field in self.fields.values())
        assert entries == wanted and found == {name: self.fields[name].values[:wanted] for name in simple}

    def truncate(self):
        files = [(field, path) for field in self.fields.values() for path in field.bytes if path in self.written]
        files = [(field, path) for field, path in files if self.written[path] > field.least(path)]
        if not files:
            return
        field, path = self.chance.choice(files)
        size = self.chance.randrange(field.least(path), self.written[path] + 1)
        try:
            os.truncate(self.path(path), size)
        except PermissionError:
            return  # clusters were committed meanwhile
        self.longest[path] = max(self.longest.get(path, 0), self.written[path])
        self.written[path] = size

    def rename(self):
        """To another name and back, while it is staged."""
        names = [f.top for f in self.fields.values() if not f.committed and os.path.exists(self.path(f.top))]
        if not names or "commit=0" in self.options:  # a timer could commit it under the other name
            return
        name = self.chance.choice(names)
        other = "other." + name.split(".")[1] if "." in name else "other"
        os.rename(self.path(name), self.path(other))
        os.rename(self.path(other), self.path(name))

    def sync(self):
        mounted.fsync(self.path())

    def see_what_is_left(self, entries=0):
        """Each file has what was committed at least, and nothing that was not written."""
        for field in self.fields.values():
            for path, data in field.bytes.items():
                found = b""
                if os.path.exists(self.path(path)):
                    with open(self.path(path), "rb") as file:
                        found = file.read()
                    assert found == data[: len(found)], path
                    assert len(found) <= max(self.written.get(path, 0), self.longest.get(path, 0)), path
                    self.written[path] = len(found)
                else:
                    self.written.pop(path, None)
                assert len(found) >= max(field.least(path), field.sizes(entries)[path] if entries else 0), path

    def kill(self):
        self.m.process.kill()
        self.m.process.wait()
        self.m.close()
        self.m = mounted.Mounted(self.directory, self.options)
        self.see_what_is_left()
        os.makedirs(self.path(), exist_ok=True)
        open(self.path(".rntuple"), "ab").close()

    def remount(self):
        before = dict(self.written)
        subprocess.run([mounted.program(), "umount", self.m.path], capture_output=True)
        assert self.m.close() == 0
        self.m = mounted.Mounted(self.directory, self.options)
        self.see_what_is_left()
        assert self.written == before
        os.makedirs(self.path(), exist_ok=True)

    def run(self):
        for _ in range(OPERATIONS):
            action = self.chance.choices(list(self.WEIGHTS), self.WEIGHTS.values())[0]
            self.history.append(action)
            getattr(self, action)()
        self.commit()
        self.remount()
        self.check_with_root()


@pytest.mark.parametrize("number", range(6 if campaign.NAME == "short" else 1000))
def test_ntuples_that_grow(tmp_path, number):
    model = Model(tmp_path, campaign.SEED * 1000 + number)
    try:
        model.run()
    except BaseException:
        print(f"seed {model.seed}, {model.options}, {model.history}")
        raise
    finally:
        model.m.close()
