# SPDX-License-Identifier: Apache-2.0
"""RNTuples: the mount shows the data that uproot wrote; damage affects only the damaged place; what is committed
stays."""

import errno
import json
import os
import shutil

import awkward as ak
import numpy as np
import pyarrow.ipc
import pytest
import uproot

import mounted
import mounted_table

COUNTS = np.array([2, 0, 1, 3, 0, 4] * 500)
TOTAL = int(COUNTS.sum())


def fields():
    random = np.random.default_rng(3)
    lists = lambda values: ak.unflatten(values, COUNTS)
    return {
        "number": np.arange(COUNTS.size) / 8,
        "small": random.integers(-100, 100, COUNTS.size).astype("i1"),
        "flag": random.random(COUNTS.size) > 0.5,
        "text": ak.Array([f"entry {i}" * (i % 3) for i in range(COUNTS.size)]),
        "list": lists(random.normal(size=TOTAL).astype("f4")),
        "words": lists(ak.Array([str(i) for i in range(TOTAL)])),
        "record": ak.zip({"x": random.normal(size=COUNTS.size), "n": np.arange(COUNTS.size, dtype="u2")}),
        "track": lists(ak.zip({"pt": random.normal(size=TOTAL), "charge": random.integers(-1, 2, TOTAL)})),
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("ntuple") / "ntuple.root"
    content = fields()
    half = COUNTS.size // 2
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("data", {name: values[:half] for name, values in content.items()})
        ntuple.extend({name: values[half:] for name, values in content.items()})
    return path, content


def column(top, name):
    suffix = name[-2:]
    return np.frombuffer(mounted_table.read_exactly(os.path.join(top, name)), "?" if suffix == "b1" else "<" + suffix)


def test_every_kind_of_field(written, mount):
    path, content = written
    top = os.path.join(mount(path).path, "data")
    for name in ("number.f8", "small.i1", "flag.b1", "list/values.f4", "record/x.f8", "record/n.u2", "track/values/pt.f8",
                 "track/values/charge.i8"):
        parts = name.rsplit(".", 1)[0].replace("/values", "").split("/")
        wanted = content[parts[0]] if len(parts) == 1 else content[parts[0]][parts[1]]
        assert np.array_equal(column(top, name), ak.to_numpy(ak.flatten(wanted, axis=None)))
    ends = np.concatenate([[0], np.cumsum(COUNTS)])
    for name in ("list", "words", "track"):
        assert np.array_equal(column(top, name + "/offsets.i8"), ends)
    chars = column(top, "words/values/chars.u1").tobytes()
    offsets = column(top, "words/values/offsets.i8")
    assert [chars[a:b].decode() for a, b in zip(offsets, offsets[1:])] == ak.flatten(content["words"]).tolist()
    schema = mounted_table.schema_of(top)
    assert schema["kind"] == "rntuple" and schema["entries"] == COUNTS.size and schema["reason"] is None


def test_views(written, mount):
    path, content = written
    top = mount(path).path
    with open(os.path.join(top, "data.jsonl")) as lines:
        shown = [json.loads(line) for line in lines]
    for name in ("text", "words", "flag"):
        assert [entry[name] for entry in shown] == content[name].tolist()
    table = pyarrow.ipc.open_file(os.path.join(top, "data.arrow")).read_all()
    table.validate(full=True)
    assert table["list"].to_pylist() == content["list"].tolist()
    assert table["track"].to_pylist() == content["track"].tolist()


def test_a_field_without_a_name(mount, tmp_path):
    path = tmp_path / "nameless.root"
    with uproot.recreate(path) as file:
        file.mkrntuple("data", ak.Array([{"": 1, "%": 2.0}, {"": 3, "%": 4.0}]))
    top = os.path.join(mount(path).path, "data")
    assert sorted(os.listdir(top)) == ["%.f8", "%.i8"]
    assert os.getxattr(os.path.join(top, "%.i8"), "user.tfilefs.name") == b""
    assert os.getxattr(os.path.join(top, "%.f8"), "user.tfilefs.name") == b"%"


def test_a_damaged_page_is_an_error_of_its_items(written, mount, tmp_path):
    path, content = written
    image = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        first_pages = [column.pages[0].locator for column in file["data"].page_link_list[0] if column.pages]
        place = next(page for page in first_pages if image[page.offset : page.offset + 2] == b"ZL")  # compressed
    image[place.offset + place.num_bytes // 2] ^= 0xFF
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(image)
    m = mount(damaged)
    whole = mount(path)
    failed = []
    for directory, _, names in os.walk(os.path.join(whole.path, "data")):
        for name in names:
            place = os.path.relpath(os.path.join(directory, name), whole.path)
            assert os.stat(os.path.join(m.path, place)).st_size == os.stat(os.path.join(whole.path, place)).st_size
            try:
                with open(os.path.join(m.path, place), "rb") as shown, open(os.path.join(whole.path, place), "rb") as right:
                    assert shown.read() == right.read()
            except OSError as error:
                assert error.errno == errno.EIO
                failed.append(place)
    assert len(failed) == 1 and f"/{failed[0]}: page 0: " in m.errors()


def test_damaged_metadata_is_the_reason_of_the_table(written, mount, tmp_path):
    path, _ = written
    image = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        at = file["data"].members["fSeekHeader"]
    image[at + 20] ^= 0xFF
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(image)
    m = mount(damaged)
    assert os.path.exists(os.path.join(m.path, "data", "object.bin"))
    assert mounted_table.schema_of(os.path.join(m.path, "data"))["reason"]


def overwrite(path):
    with open(path, "r+b", buffering=0) as file:
        file.write(b"x")


def test_what_is_committed_stays(written, tmp_path):
    path, _ = written
    copy = tmp_path / "copy.root"
    copy.write_bytes(path.read_bytes())
    m = mounted.Mounted(copy, ("rw",))
    top = os.path.join(m.path, "data")
    for change in (overwrite, lambda path: os.truncate(path, 0)):
        for name in ("number.f8", "track/offsets.i8", "track/values/pt.f8"):
            with pytest.raises(OSError) as error:
                change(os.path.join(top, name))
            assert error.value.errno == errno.EPERM, error.value
    # As for committed data of a tree, asking is not an error.
    for name in ("number.f8", "record/x.f8", "list", "."):
        place = os.path.join(top, name)
        before = os.stat(place)
        os.chmod(place, 0o600)
        os.utime(place, (1, 2))
        os.setxattr(place, "user.note", b"x")
        assert name in ("list", ".") or os.stat(place).st_mtime == before.st_mtime
    assert m.close() == 0
    assert copy.read_bytes() == path.read_bytes()


def test_it_is_renamed_and_removed_as_a_whole(written, mount, tmp_path):
    path, content = written
    copy = tmp_path / "copy.root"
    copy.write_bytes(path.read_bytes())
    with mounted.Mounted(copy, ("rw",)) as m:
        os.rename(os.path.join(m.path, "data"), os.path.join(m.path, "other"))
        mounted.fsync(m.path)
        assert os.listdir(m.path) == ["other"]
    with uproot.open(copy) as file:
        assert file["other"]["small"].array().tolist() == content["small"].tolist()
    with mounted.Mounted(copy, ("rw",)) as m:
        shutil.rmtree(os.path.join(m.path, "other"))
        mounted.fsync(m.path)
    with uproot.open(copy) as file:
        assert file.keys() == []
