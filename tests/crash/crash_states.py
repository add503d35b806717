# SPDX-License-Identifier: Apache-2.0
"""The possible states of a directory after a crash, computed from a recording of the operations on it.

The model of the disk:
- A killed process leaves all of its completed calls and, of the call in progress, some whole pages.
- When the machine stops, a file has the content of its last fsync or fdatasync that returned without error. Each
  512-byte sector written since then has its content at any one moment since, regardless of its neighbours. The length
  is that of any moment since. A sector inside the length that never arrived holds zeros, garbage, or old data.
- fdatasync makes the length durable, as fsync does.
- Names (create, rename, link, unlink, mkdir) reach the disk in the order in which they were made. After an fsync of a
  directory, its names are there. fsync of a file promises nothing about its name.
- Data that waited when fsync failed may be lost for good, even if a later fsync succeeds.
- A torn head: of one write into the first sector of a file, only the first bytes arrived. Real disks do better; such
  images are made only on request."""

import dataclasses
import errno
import hashlib
import os
import random

import recording

SECTOR = 512
PAGE = 4096
HASHED_WHOLE = 16 << 20  # longer files are compared by their operations, which may count an image twice
DIRECTORY = -1  # marks the name of a directory


def copy_sparse(source, target):
    """Copies a file and preserves its holes."""
    with open(source, "rb") as origin, open(target, "wb") as copy:
        size = os.fstat(origin.fileno()).st_size
        at = 0
        while at < size:
            try:
                at = os.lseek(origin.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    break
                raise
            end = os.lseek(origin.fileno(), at, os.SEEK_HOLE)
            while at < end:
                part = os.pread(origin.fileno(), min(end - at, 1 << 20), at)
                os.pwrite(copy.fileno(), part, at)
                at += len(part)
        copy.truncate(size)


@dataclasses.dataclass
class _Version:
    """The content of a sector since some operation; doomed if an fsync failed while it waited."""

    operation: int
    data: bytes
    doomed: bool = False


class _File:
    """A file: its durable content, in a file of this module, and the operations since."""

    def __init__(self, durable, length=0):
        self.durable = durable
        self.durable_length = length
        self.generation = 0  # of the durable content
        self.sectors = {}  # number -> [_Version], oldest first
        self.lengths = []  # [(operation, length)] since
        if length == 0:
            open(durable, "wb").close()

    def length(self):
        return self.lengths[-1][1] if self.lengths else self.durable_length

    def durable_sector(self, number):
        with open(self.durable, "rb") as file:
            return os.pread(file.fileno(), SECTOR, number * SECTOR)

    def now(self, number):
        versions = self.sectors.get(number)
        return versions[-1].data if versions else self.durable_sector(number).ljust(SECTOR, b"\0")

    def write(self, operation, offset, data):
        at = 0
        while at < len(data):
            number, inside = divmod(offset + at, SECTOR)
            part = data[at : at + SECTOR - inside]
            whole = part
            if len(part) < SECTOR:
                old = self.now(number)
                whole = old[:inside] + part + old[inside + len(part) :]
            self.sectors.setdefault(number, []).append(_Version(operation, bytes(whole)))
            at += len(part)
        if offset + len(data) > self.length():
            self.lengths.append((operation, offset + len(data)))

    def zero(self, operation, begin, end):
        """Overwrites data with zeros; the rest of a large hole already is one."""
        first, last = begin // SECTOR, (end + SECTOR - 1) // SECTOR
        for number in [n for n in self.sectors if first <= n < last]:
            self._zero_sector(operation, number, begin, end)
        durable_end = min(end, self.durable_length)
        for number in range(first, (durable_end + SECTOR - 1) // SECTOR):
            if number not in self.sectors and self.durable_sector(number).strip(b"\0"):
                self._zero_sector(operation, number, begin, end)

    def _zero_sector(self, operation, number, begin, end):
        low, high = max(begin - number * SECTOR, 0), min(end - number * SECTOR, SECTOR)
        old = self.now(number)
        data = old[:low] + bytes(high - low) + old[high:]
        self.sectors.setdefault(number, []).append(_Version(operation, data))

    def resize(self, operation, length):
        if length < self.length():
            self.zero(operation, length, self.length())
        self.lengths.append((operation, length))

    def sync(self):
        with open(self.durable, "r+b") as file:
            for number in list(self.sectors):
                versions = self.sectors[number]
                if not all(version.doomed for version in versions):
                    os.pwrite(file.fileno(), versions[-1].data, number * SECTOR)
                    del self.sectors[number]
            self.durable_length = self.length()
            self.lengths = []
            file.truncate(self.durable_length)
        self.generation += 1

    def sync_failed(self):
        for versions in self.sectors.values():
            for version in versions:
                version.doomed = True


@dataclasses.dataclass
class _Content:
    """A file of an image: durable bytes of some generation, changed sectors, a length."""

    durable: str
    generation: int
    sectors: list  # [(number, bytes)]
    length: int

    def digest(self):
        if self.length <= HASHED_WHOLE:
            return hashlib.sha256(self._bytes()).digest()
        digest = hashlib.sha256(f"{self.durable} {self.generation} {self.length}".encode())
        for number, data in sorted(self.sectors):
            if number * SECTOR < self.length:
                digest.update(number.to_bytes(8, "little") + data)
        return digest.digest()

    def _bytes(self):
        with open(self.durable, "rb") as file:
            content = bytearray(file.read(self.length).ljust(self.length, b"\0"))
        for number, data in self.sectors:
            part = data[: max(0, self.length - number * SECTOR)]
            content[number * SECTOR : number * SECTOR + len(part)] = part
        return content

    def write(self, path):
        copy_sparse(self.durable, path)
        with open(path, "r+b") as file:
            for number, data in self.sectors:
                if number * SECTOR < self.length:
                    os.pwrite(file.fileno(), data, number * SECTOR)
            file.truncate(self.length)


@dataclasses.dataclass
class Image:
    """One state of the directory. `after` operations had been made; `how` describes which of their effects arrived."""

    after: int
    how: str
    files: dict  # path -> _Content
    directories: list

    def digest(self):
        return hashlib.sha256(
            b"".join(os.fsencode(path) + b"\0" + self.files[path].digest() for path in sorted(self.files))
        ).digest()

    def write(self, directory):
        """Creates it in an empty directory. Valid until the next image is requested."""
        for path in self.directories:
            os.makedirs(os.path.join(directory, path), exist_ok=True)
        for path, content in self.files.items():
            os.makedirs(os.path.dirname(os.path.join(directory, path)), exist_ok=True)
            content.write(os.path.join(directory, path))


class CrashStates:
    """`initial` is a copy of the directory before the first operation. Durable contents are kept in `work`.

    `ignores(operation)` says whether a sync is treated as absent: this tests whether the barrier is needed."""

    def __init__(self, operations, initial, work, ignores=lambda operation: False):
        unseen = [operation.path for operation in operations if operation.kind == recording.MAPPING]
        if unseen:
            raise ValueError(f"stores through shared mappings of {unseen} are not in the recording")
        self._operations = operations
        self._initial, self._work, self._ignores = initial, work, ignores
        self._passes = 0

    def images(self, count, seed, torn=None, first=0):
        """At most `count` distinct images of moments after `first` operations: first each kill, then stops of the
        machine, spread over all moments. `torn`: the file whose head is also torn."""
        seen = set()
        for image in self._all(lambda: self._after_kill(torn), first):
            if len(seen) >= count:
                return
            if (key := (image.digest(), self._moment(image.after))) not in seen:
                seen.add(key)
                yield image
        generator = random.Random(seed)
        fruitless = 0
        while len(seen) < count and fruitless < 3:
            before = len(seen)
            tries = max(1, (count - len(seen)) // max(1, len(self._operations) - first))
            for image in self._all(lambda: self._after_stop(generator, tries), first):
                key = (image.digest(), self._moment(image.after))
                if key not in seen:
                    seen.add(key)
                    yield image
                    if len(seen) >= count:
                        return
            fruitless = fruitless + 1 if len(seen) == before else 0

    def _moment(self, after):
        """The number of earlier marks: equal bytes before and after a promise are two images."""
        if not hasattr(self, "_marks"):
            self._marks = [0]
            for operation in self._operations:
                self._marks.append(self._marks[-1] + (operation.kind == recording.MARK))
        return self._marks[after]

    def _all(self, images_here, first):
        """Goes through the operations once, and yields the results of `images_here` at each moment from `first` on."""
        self._start()
        for operation in [None] + self._operations:
            if operation is not None:
                self._apply(operation)
            if self._index >= first:
                yield from images_here()

    # The state at one moment.

    def _start(self):
        self._passes += 1
        self._index = 0
        self._files = {}  # number -> _File
        self._by_inode = {}
        self._names = []  # [{path: file number, DIRECTORY, or None if it was removed}]
        self._durable_names = 0
        known = {}
        for parent, directories, names in os.walk(self._initial):
            for name in directories:
                known[os.path.relpath(os.path.join(parent, name), self._initial)] = DIRECTORY
            for name in names:
                path = os.path.join(parent, name)
                number = self._new_file()
                copy_sparse(path, self._files[number].durable)
                self._files[number].durable_length = os.path.getsize(path)
                known[os.path.relpath(path, self._initial)] = number
        self._names.append(known)
        self._durable_names = 1

    def _new_file(self):
        number = len(self._files)
        self._files[number] = _File(os.path.join(self._work, f"{self._passes}-{number}"))
        return number

    def _named(self, path):
        for names in reversed(self._names):
            if path in names:
                return names[path]
        return None

    def _file_of(self, operation):
        number = self._by_inode.get(operation.inode)
        if number is None:
            raise ValueError(f"the recording has no open of the file of: {operation}")
        return self._files[number]

    def _apply(self, operation):
        index = self._index
        self._index += 1
        kind = operation.kind
        if kind == recording.OPEN:
            self._open(operation)
        elif kind == recording.WRITE:
            self._file_of(operation).write(index, operation.offset, operation.data)
        elif kind == recording.RESIZE:
            self._file_of(operation).resize(index, operation.offset)
        elif kind == recording.ALLOCATE:
            self._allocate(index, operation)
        elif kind == recording.SYNC:
            if not self._ignores(operation):
                self._sync(operation)
        elif kind == recording.RENAME:
            self._rename(operation)
        elif kind in (recording.UNLINK, recording.REMOVE_DIRECTORY):
            self._names.append({operation.path: None})
        elif kind == recording.LINK:
            self._names.append({operation.path: self._by_inode[operation.inode]})
        elif kind == recording.MAKE_DIRECTORY:
            self._names.append({operation.path: DIRECTORY})

    def _open(self, operation):
        if operation.value == 0:
            number = self._named(operation.path)
            if number is not None and number != DIRECTORY:
                self._by_inode[operation.inode] = number
            return
        number = self._by_inode[operation.inode] = self._new_file()
        if operation.value == recording.CREATED:
            self._names.append({operation.path: number})

    def _allocate(self, index, operation):
        KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
        file = self._file_of(operation)
        end = operation.offset + int.from_bytes(operation.data, "little")
        if operation.value & ~(KEEP_SIZE | PUNCH_HOLE | ZERO_RANGE):
            raise ValueError(f"fallocate of mode {operation.value} is not simulated")
        if operation.value & (PUNCH_HOLE | ZERO_RANGE):
            file.zero(index, operation.offset, min(end, file.length()))
        if not operation.value & KEEP_SIZE and end > file.length():
            file.resize(index, end)

    def _sync(self, operation):
        path = operation.path
        if path == "." or self._named(path) == DIRECTORY:
            if operation.error:
                return
            for index, names in enumerate(self._names):
                if any((os.path.dirname(name) or ".") == path for name in names):
                    self._durable_names = max(self._durable_names, index + 1)
        elif operation.inode in self._by_inode:
            file = self._file_of(operation)
            file.sync_failed() if operation.error else file.sync()

    def _rename(self, operation):
        EXCHANGE = 2
        source, target = operation.path, operation.other
        moved, replaced = self._named(source), self._named(target)
        if moved == DIRECTORY:
            raise ValueError("the renaming of directories is not simulated")
        self._names.append({source: replaced if operation.value & EXCHANGE else None, target: moved})

    # Images of this moment.

    def _tree(self, names):
        tree = {}
        for change in self._names[:names]:
            tree.update(change)
        files = {
            path: self._files[number] for path, number in tree.items() if number is not None and number != DIRECTORY
        }
        return files, sorted(path for path, number in tree.items() if number == DIRECTORY)

    def _image(self, how, names, content_of):
        files, directories = self._tree(names)
        return Image(self._index, how, {path: content_of(file) for path, file in files.items()}, directories)

    def _after_kill(self, torn):
        def whole(file):
            sectors = [(number, versions[-1].data) for number, versions in file.sectors.items()]
            return _Content(file.durable, file.generation, sectors, file.length())

        yield self._image("killed", len(self._names), whole)
        if self._index == len(self._operations) or self._operations[self._index].kind != recording.WRITE:
            return
        following = self._operations[self._index]
        target = self._file_of(following)
        cuts = []
        first_page = following.offset // PAGE
        last_page = (following.offset + len(following.data) - 1) // PAGE
        if last_page > first_page:
            middle = (first_page + last_page + 1) // 2 * PAGE
            cuts += [
                ("killed inside a write", cut - following.offset) for cut in sorted({(first_page + 1) * PAGE, middle})
            ]
        if (
            self._files.get(self._named(torn)) is target  # a path of an open file may be from before its name
            and target.durable_length > 0
            and following.offset < SECTOR
            and following.offset + len(following.data) <= SECTOR
        ):
            old = target.now(0)[following.offset : following.offset + len(following.data)]
            changed = [i for i in range(len(following.data)) if old[i] != following.data[i]]
            cuts += [("head torn", byte + 1) for byte in changed[:-1]]
        for how, cut in cuts:

            def part(file):
                content = whole(file)
                if file is target:
                    content.sectors = self._with_part(content.sectors, file, following, cut)
                    content.length = max(content.length, following.offset + cut)
                return content

            yield self._image(f"{how} after {cut} bytes", len(self._names), part)

    @staticmethod
    def _with_part(sectors, file, operation, cut):
        changed = dict(sectors)
        at = 0
        while at < cut:
            number, inside = divmod(operation.offset + at, SECTOR)
            part = operation.data[at : min(cut, at + SECTOR - inside)]
            old = changed.get(number) or file.now(number)
            changed[number] = old[:inside] + part + old[inside + len(part) :]
            at += len(part)
        return list(changed.items())

    def _after_stop(self, generator, tries):
        waiting = any(file.sectors or file.lengths for file in self._files.values())
        if not waiting and self._durable_names == len(self._names):
            return  # a single image, the same as after a kill
        for _ in range(tries):
            how = generator.choice(
                [
                    "writes",
                    "writes",
                    "sectors",
                    "sectors",
                    "one write lost",
                    "one sector lost",
                    "one write alone",
                    "last writes",
                    "nothing",
                ]
            )
            fill = generator.choice(["zeros", "garbage", "old data"])
            names = generator.randint(self._durable_names, len(self._names))
            chance = generator.choice([0.1, 0.5, 0.9])
            chosen = lambda file: self._stopped(file, generator, how, fill, chance)
            yield self._image(f"machine stopped: {how}, {fill}", names, chosen)

    @staticmethod
    def _stopped(file, generator, how, fill, chance):
        operations = sorted({version.operation for versions in file.sectors.values() for version in versions})
        arrived = set(operations)
        lost_sector = None
        if how == "nothing":
            arrived = set()
        elif how == "writes":
            arrived = {operation for operation in operations if generator.random() < chance}
        elif how == "one write lost" and operations:
            arrived.discard(generator.choice(operations))
        elif how == "one write alone" and operations:
            arrived = {generator.choice(operations)}
        elif how == "last writes" and operations:
            arrived = set(operations[generator.randrange(len(operations)) :])
        elif how == "one sector lost" and file.sectors:
            lost_sector = generator.choice(sorted(file.sectors))

        sectors = []
        for number, versions in file.sectors.items():
            if how == "sectors":
                known = generator.randint(0, len(versions)) if generator.random() > chance else len(versions)
            elif number == lost_sector:
                known = generator.randrange(len(versions))
            else:
                known = max((i + 1 for i, version in enumerate(versions) if version.operation in arrived), default=0)
            if known:
                sectors.append((number, versions[known - 1].data))
            elif number * SECTOR + SECTOR > file.durable_length:
                sectors.append((number, _never_written(file, number, generator, fill)))
        lengths = [file.durable_length] + [length for _, length in file.lengths]
        length = lengths[-1] if generator.random() < 0.7 else generator.choice(lengths)
        return _Content(file.durable, file.generation, sectors, length)


def _never_written(file, number, generator, fill):
    """A sector past the durable end of a file to which nothing arrived."""
    kept = file.durable_sector(number)[: max(0, file.durable_length - number * SECTOR)]
    if fill == "zeros":
        rest = bytes(SECTOR)
    elif fill == "garbage" or file.durable_length < SECTOR:
        rest = generator.randbytes(SECTOR)
    else:
        rest = file.durable_sector(generator.randrange(file.durable_length // SECTOR)).ljust(SECTOR, b"\0")
    return kept + rest[len(kept) :]
