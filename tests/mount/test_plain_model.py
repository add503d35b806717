# SPDX-License-Identifier: Apache-2.0
"""Random operations on one plain file against a model of its bytes: through one mount, through two mounts in turn, and
beside them. TFILEFS_CRASH=long makes more of them; TFILEFS_CRASH_SEED=N repeats a run."""

import contextlib
import mmap
import os
import random

import pytest

import campaign
import mounted

SIZE_MAX = 200_000  # some tens of pages, and more than one request of the kernel
STEPS = 600
ROUNDS = {"short": 1, "long": 60}[campaign.NAME]


class Side:
    """One way to the file: with descriptors that stay open, so that they see what the others do."""

    def __init__(self, path):
        self.path = path
        self._open = {}

    def descriptor(self, flags, anew):
        if anew:
            self.close(flags)
        if flags not in self._open:
            self._open[flags] = os.open(self.path, flags)
        return self._open[flags]

    def close(self, *which):
        for flags in which or list(self._open):
            if flags in self._open:
                os.close(self._open.pop(flags))


class File:
    def __init__(self, sides, seed):
        self.sides, self.random, self.model, self.done = sides, random.Random(seed), bytearray(), []

    def place(self):
        """An offset and a size; often at the end, or at the edge of a page."""
        offset = self.random.choice((self.random.randrange(SIZE_MAX), len(self.model), 4096 * self.random.randrange(40)))
        return max(0, offset + self.random.choice((0, 0, -1, 1, -7))), self.random.choice((1, 5, 100, 4096, 9000, 70_000))

    def bytes(self, size):
        return self.random.randbytes(size)

    def put(self, offset, data):
        self.model.extend(bytes(max(0, offset - len(self.model))))
        self.model[offset : offset + len(data)] = data

    def read(self, side):
        offset, size = self.place()
        fd = side.descriptor(self.random.choice((os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND)), self.random.random() < 0.3)
        assert os.pread(fd, size, offset) == self.model[offset : offset + size]

    def look(self, side):
        fd = side.descriptor(self.random.choice((os.O_RDONLY, os.O_RDWR)), self.random.random() < 0.3)
        assert os.fstat(fd).st_size == os.stat(side.path).st_size == len(self.model)

    def write(self, side):
        offset, size = self.place()
        data = self.bytes(size)
        fd = side.descriptor(self.random.choice((os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_SYNC)), self.random.random() < 0.3)
        assert os.pwrite(fd, data, offset) == size
        self.put(offset, data)

    def append(self, side):
        data = self.bytes(self.place()[1])
        fd = side.descriptor(self.random.choice((os.O_WRONLY, os.O_RDWR)) | os.O_APPEND, self.random.random() < 0.3)
        assert os.write(fd, data) == len(data)
        self.model += data

    def truncate(self, side):
        size = self.random.choice((0, len(self.model), self.place()[0]))
        if self.random.random() < 0.5:
            os.truncate(side.path, size)
        else:
            os.ftruncate(side.descriptor(os.O_RDWR, False), size)
        del self.model[size:]
        self.model.extend(bytes(size - len(self.model)))

    def map(self, side):
        """A shared mapping, which is made for one operation."""
        if not self.model:
            return
        side.close(os.O_RDWR)
        fd = side.descriptor(os.O_RDWR, True)
        with mmap.mmap(fd, len(self.model)) as memory:
            offset, size = self.place()
            assert memory[offset : offset + size] == self.model[offset : offset + size]
            data = self.bytes(max(0, min(size, len(self.model) - offset)))
            if data and self.random.random() < 0.7:
                memory[offset : offset + len(data)] = data
                memory.flush()
                self.put(offset, data)

    def step(self):
        action = self.random.choice((self.read, self.read, self.look, self.write, self.append, self.truncate, self.map))
        which = self.random.randrange(len(self.sides))
        self.done.append(f"{action.__name__} {which}")
        if len(self.model) > SIZE_MAX:
            action = self.truncate
        action(self.sides[which])


@pytest.mark.parametrize("places", (("mount",), ("mount", "other"), ("mount", "source"), ("mount", "other", "source")), ids="-".join)
def test_a_plain_file_is_its_model(tmp_path, places):
    campaign.report(f"plain files through {', '.join(places)}: {ROUNDS} rounds of {STEPS} operations")
    with contextlib.ExitStack() as stack:
        tops = {"source": str(tmp_path)}
        for place in set(places) - {"source"}:
            tops[place] = stack.enter_context(mounted.Mounted(tmp_path, ("rw",))).path
        for number in range(ROUNDS):
            seed = campaign.SEED * 1000 + number
            name = f"file{number}"
            open(os.path.join(tmp_path, name), "wb").close()
            sides = [Side(os.path.join(tops[place], name)) for place in places]
            file = File(sides, seed)
            try:
                for _ in range(STEPS):
                    file.step()
            except Exception as error:
                raise AssertionError(f"seed {seed}, after {file.done[-12:]}") from error
            finally:
                for side in sides:
                    side.close()
            with open(os.path.join(tmp_path, name), "rb") as there:
                assert there.read() == file.model
            os.unlink(os.path.join(tmp_path, name))
