# SPDX-License-Identifier: Apache-2.0
"""The model of the disk, on recordings of a few operations whose outcomes can be listed."""

import os

import pytest

import crash_states
import recording
from recording import Operation

A = b"a" * 512
B = b"b" * 512


def operation(kind, path, inode=1, offset=0, value=0, error=0, other="", data=b""):
    return Operation(kind, inode, offset, value, error, path, other, data)


def create(path, inode=1):
    return operation(recording.OPEN, path, inode, value=recording.CREATED)


def write(path, offset, data, inode=1):
    return operation(recording.WRITE, path, inode, offset, data=data)


def sync(path, inode=1, error=0):
    return operation(recording.SYNC, path, inode, error=error)


def rename(path, other, inode=1):
    return operation(recording.RENAME, path, inode, other=other)


@pytest.fixture
def outcomes(tmp_path):
    """outcomes(operations): the possible contents after the last of them: a set of directories as (name, bytes)
    pairs."""
    initial = tmp_path / "initial"
    initial.mkdir()
    runs = []

    def action(operations, **more):
        runs.append(tmp_path / f"run{len(runs)}")
        runs[-1].mkdir()
        operations = operations + [operation(recording.MARK, "now")]  # marks make equal images distinct
        states = crash_states.CrashStates(operations, initial, str(runs[-1]), **more)
        found = set()
        for image in states.images(500, seed=1):
            if image.after == len(operations):
                place = tmp_path / "image"
                place.mkdir(exist_ok=True)
                for name in os.listdir(place):
                    os.unlink(place / name)
                image.write(place)
                found.add(tuple(sorted((name, (place / name).read_bytes()) for name in os.listdir(place))))
        return found

    action.initial = initial
    return action


def contents(found, name="f"):
    return {dict(state).get(name) for state in found}


def test_what_was_synced_is_there(outcomes):
    (outcomes.initial / "f").write_bytes(A + A)
    opened = operation(recording.OPEN, "f")
    assert contents(outcomes([opened, write("f", 0, B), sync("f"), write("f", 512, B)])) == {B + A, B + B}


def test_sectors_arrive_one_by_one(outcomes):
    (outcomes.initial / "f").write_bytes(A * 3)
    found = contents(outcomes([operation(recording.OPEN, "f"), write("f", 0, B * 3)]))
    assert found == {x + y + z for x in (A, B) for y in (A, B) for z in (A, B)}


def test_a_sector_is_as_at_some_moment(outcomes):
    """Two writes into one sector: the second never arrives without the first."""
    (outcomes.initial / "f").write_bytes(A)
    found = contents(outcomes([operation(recording.OPEN, "f"), write("f", 0, B[:256]), write("f", 256, B[:256])]))
    assert found == {A, B[:256] + A[:256], B}


def test_length_without_data_and_data_without_length(outcomes):
    (outcomes.initial / "f").write_bytes(A)
    found = contents(outcomes([operation(recording.OPEN, "f"), write("f", 512, B)]))
    assert {A, A + B, A + bytes(512), A + A} <= found
    assert all(len(content) == 1024 or content == A for content in found)
    assert any(content[512:] not in (b"", A, B, bytes(512)) for content in found), "no garbage was tried"


def test_failed_sync_loses_data_for_good(outcomes):
    (outcomes.initial / "f").write_bytes(A * 2)
    opened = operation(recording.OPEN, "f")
    found = contents(outcomes([opened, write("f", 0, B), sync("f", error=5), write("f", 512, B), sync("f")]))
    assert found == {A + B, B + B}


def test_name_needs_a_sync_of_its_directory(outcomes):
    made = [create("f"), write("f", 0, A), sync("f")]
    assert contents(outcomes(made)) == {None, A}
    assert contents(outcomes(made + [sync(".", 99)])) == {A}


def test_rename_is_before_or_after(outcomes):
    (outcomes.initial / "f").write_bytes(A)
    made = [create("new", 2), write("new", 0, B, 2), sync("new", 2), rename("new", "f", 2)]
    assert contents(outcomes(made)) == {A, B}
    assert contents(outcomes(made + [sync(".", 99)])) == {B}
    assert {A, B} < contents(outcomes(made, ignores=lambda o: o.path == "new")), "a rename makes data durable"


def test_kill_leaves_whole_calls_and_pages(outcomes):
    (outcomes.initial / "f").write_bytes(b"")
    data = bytes([1]) * 4096 + bytes([2]) * 4096
    states = crash_states.CrashStates(
        [operation(recording.OPEN, "f"), write("f", 0, data), sync("f")], outcomes.initial, str(outcomes.initial.parent)
    )
    killed = []
    for number, image in enumerate(states.images(100, seed=1)):
        if image.how.startswith("killed"):
            path = outcomes.initial.parent / f"image{number}"
            path.mkdir()
            image.write(path)
            killed.append((path / "f").read_bytes())
    assert killed == [b"", data[:4096], data]


def test_images_beyond_two_gigabytes_are_sparse(outcomes, tmp_path):
    big = 3 << 30
    with open(outcomes.initial / "f", "wb") as file:
        file.truncate(big)
    states = crash_states.CrashStates(
        [operation(recording.OPEN, "f"), write("f", big, B), sync("f")], outcomes.initial, str(tmp_path)
    )
    sizes = set()
    for number, image in enumerate(states.images(50, seed=1)):
        path = tmp_path / f"image{number}"
        path.mkdir()
        image.write(path)
        state = (path / "f").stat()
        sizes.add(state.st_size)
        assert state.st_blocks * 512 < 1 << 20
        os.unlink(path / "f")
    assert sizes == {big, big + 512}


def test_same_seed_same_images(outcomes, tmp_path):
    operations = [create("f"), write("f", 0, A * 9), write("f", 2000, B * 9)]

    def digests(seed, work):
        (tmp_path / work).mkdir()
        states = crash_states.CrashStates(operations, outcomes.initial, str(tmp_path / work))
        return [image.how for image in states.images(60, seed)]

    assert digests(1, "one") == digests(1, "two") != digests(2, "three")


def test_shared_mapping_is_refused(outcomes):
    with pytest.raises(ValueError, match="shared mappings"):
        outcomes([create("f"), operation(recording.MAPPING, "f")])
