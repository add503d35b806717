# SPDX-License-Identifier: Apache-2.0
"""HTTP servers that answer wrong, late, or not at all: a reader gets the right bytes or an error that says what happened,
never other bytes, and soon. Then everything is right again as soon as the server is."""

import concurrent.futures
import contextlib
import errno
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import uproot

import remote_files
import faulty_server as faulty
import mounted

TIMEOUT, RECHECK = 1, 1
OPTIONS = (f"timeout={TIMEOUT}", f"recheck={RECHECK}")

RIGHT, LOST, CHANGED = {"right"}, {"EIO", "ETIMEDOUT"}, {"ESTALE"}

# name: the rule (made anew for each use), and what a reader may get.
FAULTS = {
    "whole file": (lambda: faulty.whole_file, RIGHT),
    "whole file, endless": (lambda: faulty.without_length, RIGHT),
    "only the first range": (lambda: faulty.only_first_range, RIGHT),
    "reversed parts": (lambda: faulty.reversed_parts, RIGHT),
    "overlapping parts": (lambda: faulty.overlapping_parts, RIGHT),
    "joined parts": (lambda: faulty.joined_parts, RIGHT),
    "as XRootD": (lambda: faulty.like_xrootd, RIGHT),
    "chunked": (lambda: faulty.chunked, RIGHT),
    "slow": (lambda: faulty.trickling(30_000, 0.02), RIGHT),
    "closing": (lambda: faulty.closing, RIGHT),
    "closing silently": (lambda: faulty.closing_silently, RIGHT),
    "500 once": (lambda: faulty.times(1, faulty.status(500)), RIGHT),
    "503 twice": (lambda: faulty.times(2, faulty.status(503)), RIGHT),
    "429 once": (lambda: faulty.times(1, faulty.status(429, retry_after=0)), RIGHT),
    "cut once": (lambda: faulty.times(1, faulty.truncated(100)), RIGHT),
    "reset once": (lambda: faulty.times(1, faulty.reset_after(100)), RIGHT),
    "no answer once": (lambda: faulty.times(1, faulty.refused), RIGHT),
    "another date each time": (lambda: faulty.changing_date, RIGHT),
    "other ranges": (lambda: faulty.other_ranges, LOST),
    "shorter ranges": (lambda: faulty.shorter_ranges, RIGHT | LOST),
    "short body": (lambda: faulty.short_body, RIGHT | LOST),
    "long body": (lambda: faulty.long_body, RIGHT | LOST),
    "long parts": (lambda: faulty.long_parts, RIGHT | LOST),
    "compressed": (lambda: faulty.compressed, LOST),
    "a part missing": (lambda: faulty.missing_part, RIGHT | LOST),
    "parts without end": (lambda: faulty.endless_parts, RIGHT | LOST),
    "an error inside": (lambda: faulty.error_inside, RIGHT | LOST),
    "absurd sizes of parts": (lambda: faulty.absurd_sizes, LOST | CHANGED),
    "absurd range": (lambda: faulty.absurd_range, LOST | CHANGED),
    "absurd length": (lambda: faulty.absurd_length, LOST | CHANGED),
    "endless headers": (lambda: faulty.endless_headers, LOST),
    "dripping headers": (lambda: faulty.dripping_headers, LOST),
    "dripping continues": (lambda: faulty.dripping_continues, LOST),
    "no HTTP": (lambda: faulty.no_http, LOST),
    "no range named": (lambda: faulty.no_range_named, LOST),
    "beyond the end": (lambda: faulty.beyond_the_end, RIGHT | LOST),
    "cut": (lambda: faulty.truncated(5000), RIGHT | LOST),
    "cut chunks": (lambda: faulty.chunked_cut, LOST),
    "stalled": (lambda: faulty.stalled(100), LOST),
    "silent": (lambda: faulty.silent, LOST),
    "reset": (lambda: faulty.reset_after(5000), RIGHT | LOST),
    "no answer": (lambda: faulty.refused, LOST),
    "500": (lambda: faulty.status(500), LOST),
    "503": (lambda: faulty.status(503, retry_after=1), LOST),
    "429 for an hour": (lambda: faulty.status(429, retry_after=3600), LOST),
    "416": (lambda: faulty.status(416), LOST | CHANGED),
    "401": (lambda: faulty.status(401, www_authenticate="Bearer"), {"EACCES"}),
    "403": (lambda: faulty.status(403), {"EACCES"}),
    "404": (lambda: faulty.status(404), {"ENOENT"} | CHANGED),
    "410": (lambda: faulty.status(410), {"ENOENT", "EIO"} | CHANGED),
    "412": (lambda: faulty.status(412), CHANGED),
    "another size": (lambda: faulty.wrong_total, CHANGED),
    "another ETag each time": (lambda: faulty.changing_etag, CHANGED),
    "a loop of redirections": (lambda: faulty.redirect(302, lambda exchange: exchange.request.path), LOST),
    "redirected to nothing": (lambda: faulty.redirect(302, "http://127.0.0.1:1/"), LOST),
    "redirected to another protocol": (lambda: faulty.redirect(302, "file:///etc/passwd"), LOST | {"EACCES"}),
}
# The first answer alone cannot tell that it is wrong: a mount may come about.
UNNOTICED_AT_FIRST = {"another ETag each time", "another size"}
PHASES = ("first", "metadata", "payload")
COLUMN = "events/x3.f8"
FILES = ("remote", "bare", "middle", "small")


@pytest.fixture(scope="module")
def contents(samples):
    """NAME -> bytes of NAME.root."""
    directory = samples("remote")
    found = {}
    for name in FILES:
        with open(os.path.join(directory, name + ".root"), "rb") as file:
            found[name] = file.read()
    return found


@pytest.fixture(scope="module")
def expected(samples):
    """(NAME, path) -> bytes, as a local mount gives them."""
    found = {}
    for name in FILES:
        with mounted.Mounted(os.path.join(samples("remote"), name + ".root")) as m:
            found.update({(name, path): data for path, data in remote_files.everything(m.path).items()})
            found[name, "events"] = remote_files.names(os.path.join(m.path, "events"), 5)
    return found


@pytest.fixture
def server(contents):
    with faulty.FaultyServer() as server:
        for name, content in contents.items():
            server.put(f"/{name}.root", content)
        yield server


@contextlib.contextmanager
def mounted_from(server, name, *options):
    with mounted.Mounted(server.url(name + ".root"), options or OPTIONS, environment=remote_files.environment()) as m:
        yield m


class Trial:
    """A fault while a file is opened ("first"), while its table is ("metadata"), or while a column is read."""

    FILES = {"first": "remote", "metadata": "middle", "payload": "bare"}

    def __init__(self, phase, make_rule, contents, expected):
        self.name = self.FILES[phase]
        self.content, self.expected = contents[self.name], expected
        self.steps = {"first": self.first, "metadata": self.metadata, "payload": self.payload}
        self.phase, self.rule = phase, make_rule()
        self.message = self.errors = self.afterwards = ""
        self.requests = 0

    def run(self):
        with faulty.FaultyServer() as self.server:
            self.server.put(f"/{self.name}.root", self.content)
            self.got = self.steps[self.phase]()
        return self

    def first(self):
        self.server.rule = self.rule
        self.begin = time.monotonic()
        try:
            m = mounted.Mounted(self.server.url(self.name + ".root"), OPTIONS, environment=remote_files.environment())
        except mounted.MountFailed as error:
            self.message = error.message
            self.seconds, self.requests = time.monotonic() - self.begin, len(self.server.requests)
            return "refused"
        with m:
            return self.judge(m, COLUMN, remote_files.read)

    def metadata(self):
        with mounted_from(self.server, self.name) as m:
            self.begin_fault()
            return self.judge(m, "events", remote_files.names)

    def payload(self):
        with mounted_from(self.server, self.name) as m:
            assert remote_files.names(os.path.join(m.path, "events"), 5) == self.expected[self.name, "events"]
            self.begin_fault()
            return self.judge(m, COLUMN, remote_files.read)

    def begin_fault(self):
        self.server.forget_requests()
        self.server.rule, self.begin = self.rule, time.monotonic()

    def judge(self, m, path, get):
        """What a reader gets while the fault is there; notes what is told of it, and what is there afterwards."""
        whole = os.path.join(m.path, path)
        wanted = self.expected[self.name, path]
        got = get(whole, 3 * TIMEOUT)
        self.seconds, self.requests = time.monotonic() - self.begin, len(self.server.requests)
        self.errors = m.errors()
        self.server.rule = lambda exchange: False
        again = remote_files.becomes(wanted, lambda: get(whole, 3 * TIMEOUT), RECHECK + remote_files.SLOW)
        self.afterwards = "right" if again == wanted else again
        return "right" if got == wanted else got if isinstance(got, str) else "wrong bytes"


@pytest.fixture(scope="module")
def trials(request, contents, expected):
    """(phase, fault) -> the future of a Trial. Nearly all of their time is waiting, so many run at once."""
    asked = [item.callspec.params for item in request.session.items
             if item.module is request.module and "fault" in getattr(getattr(item, "callspec", None), "params", ())]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        yield {
            (params["phase"], params["fault"]):
                pool.submit(Trial(params["phase"], FAULTS[params["fault"]][0], contents, expected).run)
            for params in asked
        }


def allowed_outcomes(phase, fault):
    """A fault that is there from the beginning lets no mount come about, unless readers would get the right bytes."""
    allowed = FAULTS[fault][1]
    if (phase, fault) == ("metadata", "412"):
        return allowed | {"EIO"}  # the file cannot be opened again either
    if phase != "first" or allowed == RIGHT:
        return allowed
    if fault in UNNOTICED_AT_FIRST:
        return allowed | {"refused"}
    return {"refused"} | (allowed & RIGHT)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer(trials, phase, fault):
    trial = trials[phase, fault].result()
    url = trial.server.url(trial.name + ".root")
    assert trial.got in allowed_outcomes(phase, fault), (trial.got, trial.errors or trial.message)
    assert trial.requests < 300  # a server that is in trouble is left in peace
    if trial.got == "right":
        return
    assert trial.seconds < TIMEOUT + remote_files.SLOW
    if trial.got == "refused":
        assert trial.message.count("\n") == 1 and url in trial.message, trial.message
    else:
        # A file that was replaced is no error of anybody's.
        assert trial.got == "ESTALE" or url in trial.errors, trial.errors
        assert trial.errors.count("\n") < 10, trial.errors
        assert trial.afterwards == "right", trial.afterwards


def test_later_is_as_late_as_the_server_says(server, expected):
    """Retry-After, where the timeout leaves room for it."""
    with mounted_from(server, "remote", "timeout=10") as m:
        os.listdir(os.path.join(m.path, "events"))
        server.rule = faulty.times(1, faulty.status(429, retry_after=1))
        server.forget_requests()
        assert remote_files.read(os.path.join(m.path, COLUMN), 10) == expected["remote", COLUMN]
        first, second = server.requests[:2]
        assert 0.9 <= second.time - first.time < 1 + remote_files.SLOW


# Files that change.


TELLS = {
    "ETag and date": ({"etag", "modified"}, True),
    "ETag, no conditions": ({"etag", "modified"}, False),
    "only an ETag": ({"etag"}, True),
    "only a date": ({"modified"}, True),
    "a date, no conditions": ({"modified"}, False),
    "only the size": (set(), True),
    "a weak ETag": ({"etag"}, True),
}


@pytest.mark.parametrize("how", TELLS)
def test_a_file_that_is_replaced(server, contents, expected, how):
    """What is open is stale; the next open sees the new file, after `recheck` seconds at the latest."""
    server.tells, server.honours_conditions = TELLS[how]
    server.etags_are_weak = "weak" in how
    server.put("/remote.root", contents["remote"])
    with mounted_from(server, "remote") as m:
        path = os.path.join(m.path, COLUMN)
        held = os.open(path, os.O_RDONLY)
        try:
            server.put("/remote.root", contents["middle"], modified=1_800_000_000)
            begin = time.monotonic()
            with pytest.raises(OSError) as failed:
                os.pread(held, 1000, 50_000)
            assert failed.value.errno == errno.ESTALE
            wanted = expected["middle", COLUMN]
            got = remote_files.becomes(wanted, lambda: remote_files.read(path, TIMEOUT), RECHECK + remote_files.SLOW)
            assert got == wanted
            assert time.monotonic() - begin < RECHECK + remote_files.SLOW
            with pytest.raises(OSError) as failed:
                os.pread(held, 1000, 0)
            assert failed.value.errno == errno.ESTALE
        finally:
            os.close(held)


def test_a_replaced_file_is_seen_by_a_look_alone(server, contents, expected):
    """Nothing is read that would find it out."""
    with mounted_from(server, "small") as m:
        path = os.path.join(m.path, COLUMN)
        assert remote_files.read(path, TIMEOUT) == expected["small", COLUMN]
        server.put("/small.root", contents["remote"], modified=1_800_000_000)
        size = len(expected["remote", COLUMN])
        assert remote_files.becomes(size, lambda: os.stat(path).st_size, RECHECK + remote_files.SLOW) == size
        assert remote_files.read(path, TIMEOUT) == expected["remote", COLUMN]


def test_bytes_of_two_states_are_never_mixed(server, contents, expected):
    """Every few requests the file is replaced, by one in which the same column has other numbers."""
    wanted = {expected["remote", COLUMN], expected["middle", COLUMN]}
    numbers = itertools.count(1)

    def replace(exchange):
        number = next(numbers)
        if number % 7 == 0:
            server.put("/remote.root", contents["middle" if number % 2 else "remote"], modified=1_700_000_000 + number)
        return False

    with mounted_from(server, "remote", "timeout=1", "recheck=0") as m:
        server.rule = replace
        got = [remote_files.read(os.path.join(m.path, COLUMN), TIMEOUT) for _ in range(40)]
        seen = {data if isinstance(data, str) else "right" if data in wanted else "wrong bytes" for data in got}
        assert "right" in seen and seen <= {"right", "ESTALE"}, seen


def test_a_fresh_answer_is_not_asked_for_again(server):
    with mounted_from(server, "small", "timeout=1", "recheck=60") as m:
        before = remote_files.everything(m.path)
        server.forget_requests()
        for _ in range(3):
            assert remote_files.everything(m.path) == before
        assert server.requests == []


# Servers that stand still.


@contextlib.contextmanager
def stalled_reader(server, path):
    """`cat` of a column that hangs at the server."""
    server.forget_requests()
    server.rule = faulty.times(1, faulty.stalled(100))
    reader = subprocess.Popen(["cat", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=remote_files.environment())
    try:
        mounted.wait_until(lambda: server.requests)
        assert reader.poll() is None
        yield reader
    finally:
        reader.kill()
        reader.communicate(timeout=10)


def ends_within(process, seconds):
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


@pytest.mark.parametrize("sent", (signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
def test_a_reader_that_waits_can_be_ended(server, sent):
    with mounted_from(server, "remote", "timeout=60") as m:
        with stalled_reader(server, os.path.join(m.path, COLUMN)) as reader:
            reader.send_signal(sent)
            assert ends_within(reader, 3)
        assert m.alive()


def test_others_are_answered_while_one_waits(server, expected):
    """What is there, what is not there yet, and what the mount tells of itself."""
    with mounted_from(server, "remote", "timeout=60") as m:
        there = "events/x7.f8"
        assert remote_files.read(os.path.join(m.path, there), 5) == expected["remote", there]
        with stalled_reader(server, os.path.join(m.path, COLUMN)):
            begin = time.monotonic()
            for path in (there, "events/list2/values.f4", "ntuple/x.f8"):
                with open(os.path.join(m.path, path), "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                assert remote_files.read(os.path.join(m.path, path), 5) == expected["remote", path], path
            os.listdir(os.path.join(m.path, "deep", "er"))
            assert "uptime_seconds" in remote_files.read(os.path.join(m.path, ".tfilefs", "stats.json"), 5).decode()
            assert time.monotonic() - begin < remote_files.SLOW


def test_many_that_wait_leave_room_for_others(server, expected):
    """More readers of stalled bytes than there are threads or connections. What needs no request is still answered."""
    with mounted_from(server, "remote", "timeout=60") as m:
        there = "events/x7.f8"
        assert remote_files.read(os.path.join(m.path, there), 5) == expected["remote", there]
        server.rule = faulty.stalled(100)
        paths = [os.path.join(m.path, f"events/x{column}.f8") for column in range(8, 20)] * 3
        readers = [subprocess.Popen(["cat", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for path in paths]
        try:
            time.sleep(0.5)
            assert remote_files.read(os.path.join(m.path, there), 5) == expected["remote", there]
            assert remote_files.names(os.path.join(m.path, "events"), 5) == expected["remote", "events"]
            assert "uptime_seconds" in remote_files.read(os.path.join(m.path, ".tfilefs/stats.json"), 5).decode()
        finally:
            for reader in readers:
                reader.kill()
            assert all(ends_within(reader, 5) for reader in readers)


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    """A file too large to be kept, with directories in directories."""
    path = tmp_path_factory.mktemp("directories") / "directories.root"
    with uproot.recreate(path, compression=None) as file:
        for number in range(60):
            file[f"d{number:02d}/below/text"] = f"{number:02d}" * 80_000
    return path.read_bytes()


def test_keys_that_nobody_waits_for_are_not_asked_for(server, directories):
    server.put("/directories.root", directories)
    with mounted.Mounted(server.url("directories.root"), ("recheck=600", "memory=8M", "timeout=60")) as m:
        def slow(_):
            time.sleep(0.05)
            return False

        server.rule = slow
        with subprocess.Popen(["cat", os.path.join(m.path, ".keys.json")], stdout=subprocess.DEVNULL) as reader:
            begun = len(server.requests)
            mounted.wait_until(lambda: len(server.requests) > begun + 5)
            reader.terminate()
            assert ends_within(reader, 3)
        time.sleep(0.5)
        asked = len(server.requests)
        time.sleep(1)
        assert len(server.requests) == asked
        server.rule = lambda _: False
        with open(os.path.join(m.path, ".keys.json"), encoding="utf-8") as file:
            assert len(json.load(file)["keys"]) == 180
        assert len(server.requests) > asked


def test_a_reader_waits_for_the_timeout_once(server):
    """The kernel asks again for a page whose read-ahead has failed; its reader does not wait again."""
    with mounted_from(server, "remote", "timeout=3") as m:
        os.listdir(os.path.join(m.path, "events"))
        server.rule = faulty.silent
        begin = time.monotonic()
        with pytest.raises(OSError) as failed:
            open(os.path.join(m.path, COLUMN), "rb").read(10)
        assert failed.value.errno == errno.ETIMEDOUT
        assert 2.5 < time.monotonic() - begin < 5.5


def test_what_is_open_stays_open_while_a_server_is_silent(server, expected):
    """Others find out that the server does not answer. The file is the same when it does."""
    with mounted_from(server, "remote") as m:
        path = os.path.join(m.path, COLUMN)
        with open(path, "rb", buffering=0) as held:
            os.posix_fadvise(held.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            first = os.pread(held.fileno(), 1000, 0)
            server.rule = faulty.silent
            time.sleep(RECHECK + 0.1)
            with pytest.raises(OSError) as failed:
                open(os.path.join(m.path, "events/x9.f8"), "rb").read(10)
            assert failed.value.errno == errno.ETIMEDOUT
            os.posix_fadvise(held.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            assert os.pread(held.fileno(), 1000, 0) == first == expected["remote", COLUMN][:1000]
            server.rule = lambda exchange: False
            assert os.pread(held.fileno(), 1000, 50_000) == expected["remote", COLUMN][50_000:51_000]


def test_unmounting_does_not_wait_for_a_server(server):
    """The reader is ended first, as umount(8) refuses what is in use. Its request is still under way."""
    m = mounted.Mounted(server.url("remote.root"), ("timeout=60",), environment=remote_files.environment())
    try:
        with stalled_reader(server, os.path.join(m.path, COLUMN)):
            pass
        begin = time.monotonic()
        done = remote_files.run([mounted.program(), "umount", m.path], 20)
        assert done.returncode == 0, done.stderr
        assert ends_within(m.process, 5)
        assert time.monotonic() - begin < 5
    finally:
        assert m.close() == 0


def test_a_lazy_unmount_while_a_reader_waits(server):
    """The mount is gone at once. The daemon ends with its last reader."""
    m = mounted.Mounted(server.url("remote.root"), ("timeout=60",), environment=remote_files.environment())
    try:
        with stalled_reader(server, os.path.join(m.path, COLUMN)):
            begin = time.monotonic()
            done = remote_files.run([mounted.program(), "umount", "--lazy", m.path], 20)
            assert done.returncode == 0, done.stderr
            assert not mounted.is_mount_point(m.path) and time.monotonic() - begin < 5
        assert ends_within(m.process, 5)
    finally:
        assert m.close() == 0


@pytest.mark.parametrize("sent", (signal.SIGTERM, signal.SIGINT))
def test_a_daemon_that_is_ended_does_not_wait_for_a_server(server, sent):
    m = mounted.Mounted(server.url("remote.root"), ("timeout=60",), environment=remote_files.environment())
    try:
        with stalled_reader(server, os.path.join(m.path, COLUMN)) as reader:
            m.process.send_signal(sent)
            assert ends_within(m.process, 5)
            assert ends_within(reader, 3) and reader.returncode != 0
        assert not mounted.is_mount_point(m.path)
    finally:
        m.close()


ASKS = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: None)
print("asks", flush=True)
os.open(sys.argv[1], os.O_RDONLY)
"""


@pytest.mark.parametrize("last", (signal.SIGTERM, signal.SIGKILL))
def test_who_waits_ends_though_another_signal_came_first(server, last):
    """The kernel tells only of the first signal, for which there is a handler."""
    options = ("timeout=6", f"recheck={RECHECK}")
    with mounted.Mounted(server.url("remote.root"), options, environment=remote_files.environment()) as m:
        remote_files.read(os.path.join(m.path, COLUMN), 5)
        time.sleep(RECHECK + 0.2)
        server.rule = faulty.silent
        process = subprocess.Popen([sys.executable, "-c", ASKS, os.path.join(m.path, COLUMN)], stdout=subprocess.PIPE,
                                   text=True)
        try:
            assert process.stdout.readline() == "asks\n"
            assert not ends_within(process, 0.3)
            process.send_signal(signal.SIGUSR1)
            assert not ends_within(process, 0.5)
            process.send_signal(last)
            assert ends_within(process, 3) and process.returncode == -last
        finally:
            process.kill()
            server.rule = lambda exchange: False


def test_a_mount_that_waits_for_its_server_can_be_interrupted(server, tmp_path):
    server.rule = faulty.silent
    process = subprocess.Popen([mounted.program(), "-f", "-o", "timeout=60", server.url("remote.root"), tmp_path / "mnt"],
                               stderr=subprocess.PIPE, env=remote_files.environment())
    try:
        mounted.wait_until(lambda: server.requests)
        process.send_signal(signal.SIGINT)
        assert ends_within(process, 3)
    finally:
        process.kill()
        process.communicate(timeout=10)


def test_a_server_that_goes_away_and_comes_back(server, contents, expected):
    """Without it there is an error, and what is there is still read; with it again, everything."""
    with mounted_from(server, "remote") as m:
        there, missing = "events/x7.f8", "events/x9.f8"
        assert remote_files.read(os.path.join(m.path, there), 5) == expected["remote", there]
        server.rule = faulty.refused
        assert remote_files.read(os.path.join(m.path, missing), TIMEOUT) in LOST
        server.rule = lambda exchange: False
        assert remote_files.read(os.path.join(m.path, missing), TIMEOUT) == expected["remote", missing]
        assert remote_files.read(os.path.join(m.path, there), TIMEOUT) == expected["remote", there]


# Mounts that cannot be.


def assert_refused(url, *options, timeout=TIMEOUT):
    options = ",".join((f"timeout={timeout}", *options))
    code, said, seconds = remote_files.failure("-o", options, url, limit=3 * (timeout + remote_files.SLOW))
    assert code == 1 and said.count("\n") == 1 and url in said, (code, said)
    assert seconds < timeout + remote_files.SLOW
    return said


def test_a_server_that_refuses_connections():
    assert "connect" in assert_refused("http://127.0.0.1:1/a.root")


def test_an_address_where_nobody_answers():
    with remote_files.Unanswering() as nobody:
        assert_refused(f"http://127.0.0.1:{nobody.port}/a.root")


def test_a_host_that_is_unknown():
    assert_refused("http://no-such-host.invalid/a.root", timeout=5)


def test_a_file_that_is_not_there(server):
    said = assert_refused(server.url("none.root"))
    assert "no such file" in said.lower() or "not found" in said.lower() or "404" in said


@pytest.mark.parametrize("content, told", ((b"", "empty"), (b"<html>sign in, please</html>" * 100, "ROOT"), (b"root", "header")))
def test_a_file_that_is_no_root_file(server, content, told):
    server.put("/page.root", content)
    assert told in assert_refused(server.url("page.root"))


def test_a_url_without_a_file(server):
    for url in ("http://", "http:///a.root", "http://127.0.0.1:99999/a.root", server.url() + "a b.root\n"):
        code, said, _ = remote_files.failure("-o", "timeout=1", url, limit=10)
        assert code == 1 and said.count("\n") == 1, (url, said)


def test_a_scheme_that_is_unknown():
    for url in ("ftp://127.0.0.1/a.root", "gopher://127.0.0.1/a.root"):
        assert f'"{url.partition(":")[0]}"' in assert_refused(url)


@pytest.mark.parametrize("command", ("mount", "ls", "map", "check", "classes"))
def test_a_build_without_the_libraries_refuses_by_name(tmp_path, command):
    """The program finds no module at its side, and takes the one of LD_LIBRARY_PATH."""
    libraries = os.path.join(os.path.dirname(mounted.program()), "..", "tests")
    if not os.path.exists(os.path.join(libraries, "tfilefs-remote.so")):
        pytest.skip("tests are not built")
    os.mkdir(tmp_path / "bin")
    os.mkdir(tmp_path / "out")
    program = shutil.copy(mounted.program(), tmp_path / "bin")
    for url, library in (("https://example.org/a.root", "libcurl"), ("s3://bucket/a.root", "libcurl"),
                         ("root://example.org//a.root", "XRootD")):
        place = [str(tmp_path / "out")] if command in ("mount", "classes") else []
        done = subprocess.run([program, *([] if command == "mount" else [command]), url, *place], capture_output=True, text=True,
                              env=dict(os.environ, LD_LIBRARY_PATH=libraries), timeout=30)
        assert done.returncode != 0 and done.stderr.count("\n") == 1, done
        assert url in done.stderr and f"built without {library}" in done.stderr, done


def test_a_url_is_not_written_to(server):
    said = assert_refused(server.url("remote.root"), "rw")
    assert "read" in said or "written" in said or "write" in said
    with mounted_from(server, "small") as m:
        with pytest.raises(OSError) as failed:
            open(os.path.join(m.path, COLUMN), "r+b")
        assert failed.value.errno in (errno.EACCES, errno.EROFS)
        with pytest.raises(OSError) as failed:
            os.mkdir(os.path.join(m.path, "new"))
        assert failed.value.errno == errno.EROFS


@pytest.mark.parametrize("option", ("timeout=0", "timeout=-1", "timeout=x", "recheck=-1", "recheck=x", "timeout="))
def test_an_option_that_is_no_time(server, option):
    code, said, _ = remote_files.failure("-o", option, server.url("remote.root"), limit=10)
    assert code == 2 and said.count("\n") == 1 and option.partition("=")[0] in said
