# SPDX-License-Identifier: Apache-2.0
"""RNTuples, and trees as far as they take it, of nested lists, records, maps, strings and variants grow in random pieces, in any order of their files; with
commits, kills, new mounts, truncations, renames, and fields that come and go in between. Members that come after a commit
of the others are refused. Another table keeps the journal, which is replayed under all former names of the RNTuple. After
each commit the mount and uproot show the same entries, and after the last one ROOT does."""

import errno
import json
import os
import random
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import campaign
import mounted
import root_process

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
TREE_FIELDS = {
    **{name: FIELDS[name] for name in ("x", "flag", "name", "hits", "deep", "names", "vertex", "map")},
    "deeper": [[["f4"]]], "texts": [["text"]], "point": {"a": "f4", "b": "i2"}, "pairs": [{"a": "f4", "values": "i4"}],
    "thing": {"x": "f8", "values": ["i4"]},
}
# Prints the number of entries, and the values of fields of numbers, strings and lists of numbers.
READ = """
import json, os, sys, ROOT
kinds = {"x": float, "name": str, "hits": lambda values: [float(value) for value in values]}
columns = ROOT.RDataFrame(sys.argv[2], sys.argv[1]).AsNumpy(sys.argv[3:]) if sys.argv[3:] else {}
entries = ROOT.RDataFrame(sys.argv[2], sys.argv[1]).Count().GetValue()
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
        items = [random_value(kind[0], chance) for _ in range(chance.choice([0, 0, 1, 2, 4]))]
        is_map = isinstance(kind[0], dict) and "key" in kind[0]  # in which a key is there once
        return list({item["key"]: item for item in items}.values()) if is_map else items
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


def members(kind):
    """Of a record, or of the records in a list; nothing of any other type."""
    kind = kind[0] if isinstance(kind, list) else kind
    return kind if isinstance(kind, dict) else {}


def is_record(kind):
    return len(members(kind)) > 1


def without(kind, member):
    rest = {name: of for name, of in members(kind).items() if name != member}
    return [rest] if isinstance(kind, list) else rest


def late_members(kind):
    """Those without which it is committed: a tree waits for the values of a map of texts, and `values` alone for offsets."""
    names = list(members(kind))
    return ["key"] if "key" in names else ["values"] if "values" in names else names


class Field:
    def __init__(self, name, kind, seed):
        self.name, self.kind, self.committed, self._sizes = name, kind, 0, {}
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
    WEIGHTS = {"grow": 60, "commit": 8, "come": 3, "go": 2, "truncate": 4, "rename": 3, "sync": 5, "kill": 1.5, "remount": 1.5,
               "rename_table": 2, "come_late": 2}

    def __init__(self, directory, seed, form):
        self.form, self.kinds = form, FIELDS if form == "rntuple" else TREE_FIELDS
        self.marker = ".rntuple" if form == "rntuple" else ".table"
        self.seed, self.chance, self.fields, self.written, self.longest = seed, random.Random(seed), {}, {}, {}
        self.directory, self.goal, self.history = directory, 5, []
        self.name = "Events"
        self.options = ("rw", "format=" + self.chance.choice(["tree", form]), "commit=" + self.chance.choice(["600", "0"]),
                        "autoflush=" + self.chance.choice(["1000", "30000000"]), "compression=" + self.chance.choice(["none", "zstd:3"]))
        self.file = os.path.join(directory, "a.root")
        self.m = mounted.Mounted(directory, self.options)
        os.makedirs(self.path())
        open(self.path(self.marker), "wb").close()
        self.keep_a_journal()
        for _ in range(4):
            self.come()

    def path(self, *below):
        return os.path.join(self.m.path, "a.root", self.name, *below)

    def keep_a_journal(self):
        """By another table, which is never whole."""
        other = os.path.join(self.m.path, "a.root", "other")
        os.makedirs(other, exist_ok=True)
        for name, size in ((".table", 0), ("a.i4", 8), ("b.i4", 4)):
            with open(os.path.join(other, name), "wb") as file:
                file.write(bytes(size))

    def come(self):
        if left := [name for name in self.kinds if name not in self.fields]:
            name = self.chance.choice(left)
            self.fields[name] = Field(name, self.kinds[name], f"{self.seed} {len(self.history)}")

    def go(self):
        if len(self.fields) < 2:
            return
        self.remove(self.fields.pop(self.chance.choice(list(self.fields))))

    def remove(self, field):
        path = self.path(field.top)
        if os.path.exists(path):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        for path in field.bytes:
            self.written.pop(path, None), self.longest.pop(path, None)
        field.committed = 0

    def append(self, field, path, size):
        """False if the field was committed without it: it is then removed, to be written anew."""
        try:
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            file = open(self.path(path), "ab")
        except OSError as error:
            assert error.errno == errno.EOPNOTSUPP and path not in self.written, self.m.errors()
            assert f"{field.name} is committed without it" in self.m.errors()
            assert any(size for other, size in self.written.items() if other in field.bytes)
            self.remove(field)
            return False
        with file:
            file.write(field.bytes[path][self.written.get(path, 0) : size])
        self.written[path] = size
        for variant, kind in field.variants.items():
            if os.path.isdir(self.path(variant)):
                os.setxattr(self.path(variant), "user.tfilefs.class", kind.encode())
        return True

    def grow(self):
        field = self.chance.choice(list(self.fields.values()))
        path, size = self.chance.choice(list(field.sizes(self.goal).items()))
        at = self.written.get(path, 0)
        if at < size or path not in self.written:
            self.append(field, path, self.chance.choice([size, self.chance.randrange(at, size + 1)]))

    def complete(self):
        """All fields have the same entries, in as many tries as there are members that come late."""
        while True:
            files = [(field, path) for field in self.fields.values() for path in field.bytes]
            self.chance.shuffle(files)
            files = [(field, path) for field, path in files if self.written.get(path, -1) < field.sizes(self.goal)[path]]
            if all(self.append(field, path, field.sizes(self.goal)[path]) for field, path in files):
                return

    def bring_in(self):
        done = subprocess.run([mounted.program(), "commit", self.path()], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + self.m.errors()
        for field in self.fields.values():
            field.committed = self.goal

    def come_late(self):
        """A record, or a list of records, is committed without one of its members, which is then refused in every try."""
        left = [name for name in self.kinds if name not in self.fields and is_record(self.kinds[name])]
        if not left or "commit=0" in self.options:  # a timer could commit it with fewer members still
            return
        self.complete()
        name = self.chance.choice(left)
        whole, late = Field(name, self.kinds[name], f"{self.seed} {len(self.history)}"), self.chance.choice(late_members(self.kinds[name]))
        early = {path: whole.bytes[path] for path in files_of(name, without(whole.kind, late), whole.values)}
        sizes = whole.sizes(self.goal)
        for path in self.chance.sample(list(early), len(early)):
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            with open(self.path(path), "wb") as file:
                file.write(early[path][: sizes[path]])
            for variant, kind in whole.variants.items():
                if os.path.isdir(self.path(variant)):
                    os.setxattr(self.path(variant), "user.tfilefs.class", kind.encode())
        self.bring_in()
        for again in (None, self.chance.choice([self.remount, self.kill])):
            if again:
                mounted.fsync(self.path())
                again()
            for path in whole.bytes.keys() - early.keys():
                try:
                    os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
                    open(self.path(path), "ab").close()
                    raise AssertionError(f"{path} was made, {name} is committed without it")
                except OSError as error:
                    assert error.errno == errno.EOPNOTSUPP, path
        self.bring_in()
        shutil.rmtree(self.path(name))

    def commit(self):
        self.complete()
        self.bring_in()
        self.check()
        self.goal = min(MOST, self.goal + self.chance.choice([1, 3, 10, 40]))

    def check(self):
        self.see_what_is_left(self.goal)
        with uproot.open(self.file) as file:
            table = file[self.name]
            names = {name.rstrip(".") for name in table.keys(recursive=False)}
            assert table.num_entries == self.goal and names == set(self.fields)
            if self.form == "tree":
                for name in [each for each in ("x", "flag", "name", "hits", "deep", "names", "deeper", "texts") if each in self.fields]:
                    assert table[name].array().tolist() == self.fields[name].values[: self.goal], name
                return
            clusters = [(c.num_first_entry, c.num_first_entry + c.num_entries) for c in table.cluster_summaries]
            for field in self.fields.values():  # cluster by cluster, as uproot misreads variants of several
                found = sum((table[field.name].array(entry_start=a, entry_stop=b).tolist() for a, b in clusters), [])
                assert found == [shown(value, field.kind) for value in field.values[: self.goal]], field.name

    def check_with_root(self):
        simple = [name for name in ("x", "name", "hits") if name in self.fields]
        done = root_process.run_code(READ, self.file, self.name, *simple)
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

    def rename_table(self):
        """The next commit brings the name into the file, perhaps together with a field."""
        other = f"Events{len(self.history)}"
        os.rename(self.path(), os.path.join(self.m.path, "a.root", other))
        self.name = other

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
        open(self.path(self.marker), "ab").close()

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


@pytest.mark.parametrize("form", ("rntuple", "tree"))
@pytest.mark.parametrize("number", range(6 if campaign.NAME == "short" else 1000))
def test_tables_of_parts_grow(tmp_path, number, form):
    model = Model(tmp_path, campaign.SEED * 1000 + number, form)
    try:
        model.run()
    except BaseException:
        print(f"seed {model.seed}, {model.options}, {model.history}")
        raise
    finally:
        model.m.close()
