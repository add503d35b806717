# SPDX-License-Identifier: Apache-2.0
"""Appenders, processes that fsync directories, committers, readers and ROOT use one table at the same time, also while
the daemon is killed: every byte read is right, nothing that was fsynced is lost, and every call is answered.

TFILEFS_CRASH=long runs each for 20 minutes, with many kills; TFILEFS_CRASH_SEED repeats the random choices (not the
race)."""

import errno
import faulthandler
import math
import mmap
import multiprocessing
import os
import random
import signal
import subprocess
import time
import traceback

import pytest
import uproot

import campaign
import column_streams
import foreign_appender
import mounted

DEADLINE = 60  # seconds in which every call must be answered
FILE, TABLE = "out.root", "Events"


def columns():
    return [
        column_streams.number("x", "f4", 1),
        column_streams.number("position", "f8", 2, (3,)),
        column_streams.lists("hits", "i4", 3),
        column_streams.lists("late", "u1", 10, empty=500),
        column_streams.lists("tracks", "f4", 20, depth=2),
        column_streams.lists("name", "chars", 30),
    ]


class Race:
    """A mount at a fixed place, and processes that use it until they are stopped."""

    def __init__(self, directory, options):
        self.source, self.place = os.path.join(directory, "source"), os.path.join(directory, "mount")
        os.makedirs(self.source), os.makedirs(self.place)
        self.table = os.path.join(self.place, FILE, TABLE)
        self.options, self._mount = ("rw", *options), None
        self._stop, self._up = multiprocessing.Event(), multiprocessing.Event()
        self._generation = multiprocessing.Value("q", 0)  # number of mounts so far
        self._failures = multiprocessing.SimpleQueue()
        self._results = multiprocessing.SimpleQueue()
        self._processes, self._beats = [], []
        self.kills = 0
        self.mount()

    # The mount.

    def mount(self):
        self._mount = mounted.Mounted(self.source, self.options, mount_point=self.place)
        os.makedirs(self.table, exist_ok=True)
        self._generation.value += 1
        self._up.set()

    def kill(self, chance):
        """Kills the daemon, and again while the next mounts replay."""
        self._mount.process.kill()
        self._up.clear()
        self.kills += 1
        self._mount.close()
        self._generation.value += 1
        while chance.random() < 0.5:
            with open(os.devnull, "wb") as nothing:
                process = subprocess.Popen([mounted.program(), "-f", "-o", ",".join(self.options), self.source, self.place], stdout=nothing, stderr=nothing)
            time.sleep(chance.random() * 0.1)
            process.kill()
            process.wait()
            self.kills += 1
            subprocess.run(["fusermount3", "-u", "-z", self.place], capture_output=True)
        self.mount()

    # Processes: each runs `body(self, tools, *arguments)`.

    def start(self, body, *arguments):
        beat = multiprocessing.Value("d", time.monotonic())
        process = multiprocessing.Process(target=self._run, args=(body, beat, arguments), daemon=True)
        process.start()
        self._processes.append((body.__name__, process))
        self._beats.append(beat)

    def _run(self, body, beat, arguments):
        try:
            self._results.put((body.__name__, body(Tools(self, beat), *arguments)))
        except BaseException as error:
            self._failures.put(f"{body.__name__}: {error}\n{traceback.format_exc()[-1500:]}")
            self._stop.set()

    def run(self, seconds, each=lambda: None, pause=0.05):
        """Runs until the time is over or a process has failed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._stop.is_set():
            each()
            for (name, process), beat in zip(self._processes, self._beats):
                assert not process.is_alive() or time.monotonic() < beat.value + DEADLINE, f"{name}: no answer in {DEADLINE} s"
            time.sleep(pause)
        self._stop.set()
        results = {}
        for name, process in self._processes:
            process.join(DEADLINE)
            assert not process.is_alive(), f"{name} does not end: no answer in {DEADLINE} s"
        while not self._results.empty():
            name, result = self._results.get()
            results.setdefault(name, []).append(result)
        failures = []
        while not self._failures.empty():
            failures.append(self._failures.get())
        assert not failures, "\n".join(failures) + self._errors()
        return results

    def _errors(self):
        try:
            return self._mount.errors()
        except OSError as error:
            return str(error)

    def command(self, name, path):
        result = subprocess.run([mounted.program(), name, path], capture_output=True, text=True, timeout=DEADLINE)
        return result.returncode, result.stdout + result.stderr

    def finish(self, entries):
        """Everything is complete: it is committed, and nothing is left."""
        status, said = self.command("commit", self.table)
        assert status == 0, said + self._errors()
        assert self.check(whole=True) == entries
        status, said = self.command("umount", self.place)
        assert status == 0, said
        assert self._mount.close() == 0, self._mount.messages()
        assert os.listdir(self.source) == [FILE]
        assert self.check(whole=True) == entries

    def check(self, first=0, whole=False):
        """Checks that uproot reads correct entries from the file, from `first` on; returns their number."""
        path = os.path.join(self.source, FILE)
        if not os.path.exists(path):
            return 0
        with uproot.open(path) as file:
            if TABLE not in file:
                assert not whole
                return 0
            tree = file[TABLE]
            found = {branch.name: branch for branch in tree.branches}
            wanted = {column.branch: column for column in columns()}
            assert found.keys() <= wanted.keys() and (not whole or found.keys() == wanted.keys())
            for name, branch in found.items():
                assert branch.num_entries == tree.num_entries, name
                wrong = wanted[name].difference(branch.array(entry_start=first, library="ak"), min(first, tree.num_entries), tree.num_entries)
                assert not wrong, f"{name}: wrong in the file: {wrong}"
            return tree.num_entries

    def close(self):
        self._stop.set()
        self._mount.process.kill()
        for _, process in self._processes:
            process.join(5)
            process.kill()
        self._mount.close()


class Tools:
    """The tools of a process in a race."""

    def __init__(self, race, beat):
        self._race, self._beat, self.table, self.top = race, beat, race.table, race.place

    def going(self):
        self._beat.value = time.monotonic()
        return not self._race._stop.is_set()

    def again(self, error, generation):
        """After an error: raises it, unless the daemon of that mount was killed; then waits for the next mount."""
        self._beat.value = time.monotonic()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if not self._race._up.is_set() or self._race._generation.value != generation:
                while not self._race._up.wait(1):
                    self._beat.value = time.monotonic()
                return
            time.sleep(0.01)
        raise error

    def generation(self):
        return self._race._generation.value


# The work of the processes.


def appender(tools, seed, synced_share, pause=0.0, limit=1 << 60):
    """Appends to the files in any order, until all have equal length; returns the number of entries."""
    chance, table = random.Random(seed), columns()
    synced, written, target = {}, {}, 0
    generation = tools.generation()
    while tools.going() or any(written.get(p, -1) < s for c in table for p, s in c.sizes(target).items()):
        try:
            behind = [(c, p, s) for c in table for p, s in c.sizes(target).items() if written.get(p, -1) < s]
            if not behind:
                if target >= limit:
                    time.sleep(0.01)
                    continue
                target += chance.choice([1, 3, 40, 300])
                time.sleep(pause)
                continue
            column, path, size = chance.choice(behind)
            if chance.random() < 0.3:
                size = chance.randint(written.get(path, 0), size)
            append(tools, column, path, written, size, synced if chance.random() < synced_share else None)
        except OSError as error:
            tools.again(error, generation)
            generation = tools.generation()
            target = see_what_is_left(tools, table, written, synced, target)
    return target


def append(tools, column, path, written, size, synced):
    there = written.get(path, 0)
    full = os.path.join(tools.table, path)
    if path not in written:
        os.makedirs(os.path.dirname(full), exist_ok=True)
    file = os.open(full, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if path not in written else 0), 0o644)
    try:
        data = column.files[path].bytes(there, size)
        while data:
            data = data[os.write(file, data) :]
        if synced is not None:
            os.fsync(file)
            synced[path] = max(size, synced.get(path, 0))
    finally:
        os.close(file)
    written[path] = size


def see_what_is_left(tools, table, written, synced, target):
    """After a kill: nothing that was fsynced is lost. Writes only what is missing; returns the target."""
    for column in table:
        for path, stream in column.files.items():
            for generation in iter(tools.generation, None):
                try:
                    with open(os.path.join(tools.table, path), "rb") as file:
                        data = file.read()
                    break
                except FileNotFoundError:
                    data = None
                    if tools._race._up.is_set():
                        break
                except OSError as error:
                    tools.again(error, generation)
            assert len(data or b"") >= synced.get(path, 0), f"{path}: {len(data or b'')} bytes are left, {synced[path]} were fsynced"
            same(path, stream, 0, data or b"")
            written.pop(path, None)
            if data is not None:
                written[path] = len(data)
    while any(written.get(p, 0) > s for c in table for p, s in c.sizes(target).items()):
        target += 1
    return target


def same(path, stream, begin, data):
    wanted = stream.bytes(begin, begin + len(data))
    if data != wanted:
        at = next(i for i, (a, b) in enumerate(zip(data, wanted)) if a != b)
        raise AssertionError(f"{path}: byte {begin + at} of {begin + len(data)} (item {(begin + at) // stream.width}) is wrong: {data[at : at + 8].hex()}, not {wanted[at : at + 8].hex()}")


def syncer(tools, pause=0.0):
    """fsync(2) of a directory above, by another process."""
    generation, done = tools.generation(), 0
    while tools.going():
        try:
            mounted.fsync(tools.table if done % 2 else tools.top)
            done += 1
        except OSError as error:
            tools.again(error, generation)
            generation = tools.generation()
        time.sleep(pause)
    return done


def committer(tools):
    """`tfilefs commit`, which reports incomplete tables."""
    done = 0
    while tools.going():
        generation = tools.generation()
        result = subprocess.run([mounted.program(), "commit", tools.table], capture_output=True, text=True, timeout=DEADLINE)
        lines = result.stderr.splitlines()
        if result.returncode != 0 and not all("not committed: " in line for line in lines):
            tools.again(RuntimeError(result.stderr), generation)
        done += 1
        time.sleep(0.02)
    return done


def reader(tools, seed):
    """Reads columns in every way, and checks every byte; data that existed once must stay. Returns the number of reads,
    and how many of them found that a later commit had replaced the opened state."""
    chance, done, stale = random.Random(seed), 0, 0
    streams = {path: stream for column in columns() for path, stream in column.files.items()}
    generation, known = tools.generation(), {}
    while tools.going():
        path = chance.choice(sorted(streams))
        try:
            with open(os.path.join(tools.table, path), "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                assert size >= known.get(path, 0) or generation != tools.generation(), f"{path} had {known[path]} bytes, and has {size}"
                known[path] = size
                if read_somehow(file, size, chance, path, streams[path]):
                    done += 1
                else:
                    stale += 1
        except FileNotFoundError:
            time.sleep(0.01)
        except OSError as error:
            if error.errno == errno.ESTALE:
                stale += 1
            else:
                tools.again(error, generation)
        if generation != tools.generation():
            generation, known = tools.generation(), {}
    return done, stale


def read_somehow(file, size, chance, path, stream):
    """Whether the read was right; a mapping of a stale file gives nothing."""
    how = chance.choices(["read", "pread", "map"], [30, 60, 3])[0]  # a separate process takes long
    begin = chance.randint(0, size)
    end = min(size, begin + chance.choice([100, 5000, 200_000]))
    if how == "map" and end > begin:
        return read_mapped(file, begin, end, path, stream)
    if how == "read":
        begin, end, data = 0, size, read_whole(file)
    else:
        data = os.pread(file.fileno(), end - begin, begin)
    assert len(data) >= end - begin, f"{path}: {how} gives {len(data)} bytes of {end - begin}, the size is {size}"
    same(path, stream, begin, data)
    return True


def read_mapped(file, begin, end, path, stream):
    """Runs in a separate process, which ends by SIGBUS if the mount no longer has these bytes."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        verdict = 2
        try:
            with mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ) as memory:
                verdict = 0 if memory[begin:end] == stream.bytes(begin, end) else 1
        finally:
            os._exit(verdict)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGBUS, 2 << 8), f"{path}: bytes {begin} to {end} are wrong in a mapping ({status})"
    return status == 0


# The tests.

OPTIONS = [("commit=0",), ("commit=1", "memory=8M"), (), ("commit=86400", "compression=none")]
LONGEST = 30  # seconds of one race: then a new file begins, since reading all of a large one takes most of the time


def rounds(tests):
    """(seed, seconds) of each race of one of that many tests, which share the campaign's time."""
    seconds = campaign.LENGTH["race_seconds"] / tests
    count = math.ceil(seconds / LONGEST)
    return [(campaign.SEED + 100 * number, seconds / count) for number in range(count)]


@pytest.fixture
def race(tmp_path):
    races = []

    def make(*options):
        if races:
            races[-1].close()
        races.append(Race(str(tmp_path / str(len(races))), options))
        return races[-1]

    yield make
    for one in races[-1:]:
        one.close()


def checked(race):
    """Reads the ROOT file with uproot: the number of committed entries never decreases. Twice: see "What is
    assumed"."""
    known = [0]

    def look():
        try:
            found = race.check(max(0, known[0] - 3))
        except Exception:
            time.sleep(0.05)
            found = race.check(max(0, known[0] - 3))
        assert found >= known[0], f"{known[0]} entries were in the file, and now {found}"
        known[0] = found

    return look


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "default")
@pytest.mark.parametrize("synced_share", (0.0, 0.5), ids=("closed", "synced"))
def test_an_appender_and_a_process_that_syncs_the_directory(race, options, synced_share):
    for seed, seconds in rounds(2 * len(OPTIONS)):
        r = race(*options)
        r.start(appender, seed, synced_share)
        r.start(syncer, 0.003)
        results = r.run(seconds, checked(r), 0.3)
        campaign.report(f"appender and fsyncer {options}, seed {seed}: {results}")
        r.finish(results["appender"][0])


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "default")
def test_an_appender_a_committer_and_eight_readers(race, options):
    for seed, seconds in rounds(len(OPTIONS)):
        r = race(*options)
        r.start(appender, seed, 0.2, 0.002)
        r.start(committer)
        for number in range(8):
            r.start(reader, seed + number)
        results = r.run(seconds, checked(r), 0.3)
        campaign.report(f"appender, committer and readers {options}, seed {seed}: {results}")
        r.finish(results["appender"][0])


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "default")
def test_the_daemon_is_killed(race, options):
    """Repeatedly, while all of these are active, and while the next mounts replay."""
    for seed, seconds in rounds(len(OPTIONS)):
        r, chance = race(*options), random.Random(seed)
        r.start(appender, seed, 0.5)
        r.start(syncer, 0.01)
        for number in range(2):
            r.start(reader, seed + number)
        results = r.run(seconds, lambda: (time.sleep(chance.random() * 0.3), r.kill(chance)), 0.1)
        campaign.report(f"kills {options}, seed {seed}: {r.kills}, {results}")
        r.finish(results["appender"][0])


def test_readers_that_opened_a_column_before_items_were_appended(race):
    """They see the items once they are there, and never the zeros that the kernel has behind the end of a file."""
    r, column = race("commit=86400"), columns()[0]
    tools = Tools(r, multiprocessing.Value("d", 0))
    (path,), written = column.files, {}
    append(tools, column, path, written, column.sizes(100)[path], None)
    assert r.command("commit", r.table)[0] == 0
    for _ in range(3):
        r.start(early_reader, path)
    for _ in range(2):
        r.start(busy)

    def one_more():
        append(tools, column, path, written, written[path] + column.files[path].width, None)

    for _, seconds in rounds(2):
        r.run(seconds, one_more, 0.002)


def early_reader(tools, path):
    stream = columns()[0].files[path]
    with open(os.path.join(tools.table, path), "rb", buffering=0) as file:
        while tools.going():
            file.seek(0)
            same(path, stream, 0, read_whole(file))


def busy(tools):
    while tools.going():
        pass


@pytest.mark.parametrize("options", [("commit=0",), ()], ids=lambda options: "-".join(options) or "default")
@pytest.mark.parametrize("killed", (False, True), ids=("alive", "killed"))
def test_root_and_the_mount_append_in_turn(race, options, killed):
    for seed, seconds in rounds(4):
        r = race(*options)
        turns = Turns(r, seed, killed)
        if not killed:
            for number in range(2):
                r.start(turn_reader, seed + number)
        try:
            for _ in range(5):
                turns.one()
            results = r.run(seconds, turns.one, 0)
            campaign.report(f"ROOT and the mount {options}, seed {seed}: {turns.done}, {r.kills} kills, {results}")
            r.finish(turns.entries)
        finally:
            turns.close()


class Turns:
    """Alternately, the mount appends and commits, and ROOT appends."""

    def __init__(self, race, seed, killed):
        self._race, self._chance, self._killed = race, random.Random(seed), killed
        self._root, self._table, self._written = foreign_appender.Appender(), columns(), {}
        self._root.start()
        self._tools = Tools(race, multiprocessing.Value("d", 0))
        self.entries, self.done = 0, 0

    def close(self):
        self._root.close()

    def one(self):
        chance, race = self._chance, self._race
        self.entries += chance.choice([1, 30, 400])
        for column in chance.sample(self._table, len(self._table)):
            for path, size in chance.sample(sorted(column.sizes(self.entries).items()), len(column.files)):
                append(self._tools, column, path, self._written, size, {} if self._killed or chance.random() < 0.5 else None)
        if self._killed and chance.random() < 0.3:
            race.kill(chance)
        status, said = race.command("commit", race.table)
        assert status == 0, said + race._errors()
        assert race.check(max(0, self.entries - 500)) == self.entries
        if chance.random() < 0.5:
            self._root_appends(chance.choice([1, 100]))
        self.done += 1

    def _root_appends(self, more):
        self._root.append(os.path.join(self._race.source, FILE), TABLE, self._table, self.entries, self.entries + more)
        self.entries += more
        for column in self._table:
            for path, size in column.sizes(self.entries).items():
                self._written[path] = size
                with open(os.path.join(self._race.table, path), "rb") as file:
                    data = read_whole(file)
                assert len(data) == size, f"{path} has {len(data)} bytes after ROOT wrote, not {size}"
                same(path, column.files[path], 0, data)


def turn_reader(tools, seed):
    """A reader of a file that ROOT changes, too: older handles are then stale."""
    chance, done = random.Random(seed), 0
    streams = {path: stream for column in columns() for path, stream in column.files.items()}
    while tools.going():
        path = chance.choice(sorted(streams))
        try:
            with open(os.path.join(tools.table, path), "rb", buffering=0) as file:
                data = read_whole(file)
            same(path, streams[path], 0, data)
            done += 1
        except FileNotFoundError:
            time.sleep(0.01)
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    return done


def read_whole(file):
    parts = []
    while part := file.read(1 << 17):
        parts.append(part)
    return b"".join(parts)
