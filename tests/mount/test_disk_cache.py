# SPDX-License-Identifier: Apache-2.0
"""The cache on disk of files behind URLs: a later mount asks for nothing that an earlier one has read, and whatever
happens to the directory costs fetches, never a byte."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import time

import pytest

import delayed_network
import remote_files
import faulty_server as faulty
import http_server
import mounted
import xrootd_server

NAMES = ("remote", "middle", "small", "tiny", "wide")
DATE = 1_700_000_000
RTT_MS = 100
GENEROUS = 2.5  # a machine that is busy


@pytest.fixture(scope="module")
def directory(samples, tmp_path_factory):
    """NAME.root, which have not changed just now."""
    directory = tmp_path_factory.mktemp("served")
    for name in NAMES:
        shutil.copy(os.path.join(samples("remote"), name + ".root"), directory)
        os.utime(directory / f"{name}.root", (DATE, DATE))
    return directory


@pytest.fixture(scope="module")
def local(directory):
    """NAME -> {path: bytes} of a local mount."""
    found = {}
    for name in NAMES:
        with mounted.Mounted(os.path.join(directory, name + ".root")) as m:
            found[name] = remote_files.everything(m.path)
    return found


def content_of(directory, name):
    with open(os.path.join(directory, name + ".root"), "rb") as file:
        return file.read()


@pytest.fixture
def server(directory):
    with faulty.FaultyServer() as server:
        for name in NAMES:
            server.put(f"/{name}.root", content_of(directory, name), modified=DATE)
        yield server


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def mounted_with(url, cache, *options, prefix=(), **more):
    return mounted.Mounted(url, ("timeout=10", "recheck=600", f"diskcache={cache}", *options), prefix=prefix,
                           environment=remote_files.environment(**more))


def counts(m):
    with open(os.path.join(m.path, ".tfilefs", "stats.json")) as file:
        [source] = json.load(file)["sources"]
    return source


def cached(cache):
    return sorted(path for path in cache.iterdir() if path.suffix == ".tfc")


# ---- what a second mount asks for


@pytest.mark.parametrize("name", NAMES)
def test_a_second_mount_asks_for_the_state_alone(server, cache, local, name):
    with mounted_with(server.url(name + ".root"), cache) as m:
        assert remote_files.everything(m.path) == local[name]
        first = counts(m)
    server.forget_requests()
    with mounted_with(server.url(name + ".root"), cache) as m:
        assert remote_files.everything(m.path) == local[name]
        second = counts(m)
        assert m.errors() == ""
    print(name, "first", first, "second", second)
    assert [request.ranges for request in server.requests] == [[(0, 0)]]
    assert (second["requests"], second["bytes"], second["disk_failures"]) == (1, 1, 0)
    size = os.path.getsize(cached(cache)[0])
    assert size < 1.1 * len(server_content(server, name)) + 10_000, "nothing is there twice"


def server_content(server, name):
    return server.files[f"/{name}.root"].content


def test_what_a_server_cannot_do_is_known_to_a_later_mount(server, cache, local):
    """That it answers one range of several."""
    server.rule = faulty.only_first_range
    vain = []
    for column in ("x3", "x4"):
        server.forget_requests()
        with mounted_with(server.url("remote.root"), cache, "prefetch=off") as m:
            path = f"events/{column}.f8"
            assert remote_files.read(os.path.join(m.path, path), 10) == local["remote"][path]
        vain.append(sum(len(request.ranges) > 1 for request in server.requests))
    assert vain[0] > 0 and vain[1] == 0, vain


def test_what_was_not_read_is_asked_for(server, cache, local):
    url = server.url("remote.root")
    with mounted_with(url, cache) as m:
        assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["remote"]["events/x3.f8"]
    for _ in range(2):
        with mounted_with(url, cache) as m:
            for column in ("x3", "x4"):
                assert remote_files.read(os.path.join(m.path, f"events/{column}.f8"), 10) == local["remote"][f"events/{column}.f8"]
            last = counts(m)
    assert last["requests"] == 1


def test_a_file_that_changed_is_read_anew(server, cache, directory, local):
    url = server.url("remote.root")
    with mounted_with(url, cache) as m:
        remote_files.everything(m.path)
    server.put("/remote.root", content_of(directory, "middle"), modified=DATE + 100)
    for expected in range(2):
        server.rule = waves = faulty.Waves()
        with mounted_with(url, cache) as m:
            assert waves.count <= (3, 1)[expected]
            server.rule = lambda exchange: False
            assert remote_files.everything(m.path) == local["middle"]
            assert counts(m)["requests"] == 1 or not expected
    assert len(cached(cache)) == 1


def test_a_file_that_changes_while_it_is_mounted(server, cache, directory, local):
    url = server.url("remote.root")
    with mounted_with(url, cache, "recheck=0") as m:
        remote_files.everything(m.path)
        server.put("/remote.root", content_of(directory, "middle"), modified=DATE + 100)
        assert remote_files.becomes(local["middle"], lambda: remote_files.everything(m.path), 10) == local["middle"]
    with mounted_with(url, cache) as m:
        assert remote_files.everything(m.path) == local["middle"]


@pytest.mark.parametrize("tells", ([], ["modified"], ["etag"]))
def test_a_state_that_is_not_told_is_not_believed(server, cache, local, tells):
    server.tells = set(tells)
    url = server.url("middle.root")
    for _ in range(2):
        with mounted_with(url, cache) as m:
            assert remote_files.everything(m.path) == local["middle"]
            last = counts(m)
    assert (last["requests"] == 1) == bool(tells)


def test_servers_that_refuse_ranges(server, cache, local):
    server.rule = faulty.whole_file
    for _ in range(2):
        with mounted_with(server.url("middle.root"), cache) as m:
            assert remote_files.everything(m.path) == local["middle"]
            last = counts(m)
    assert last["requests"] == 1


def test_on_a_long_line(directory, cache, local):
    """The first mount reads through gaps, as a round trip costs more. What it did not read of the second's columns is
    all that the second asks for."""
    with delayed_network.DelayedNetwork(RTT_MS) as network:
        remote = dict(address=network.remote_address, port=8080, prefix=network.command("remote"))
        with http_server.Nginx(directory, **remote) as server:
            times = []
            for columns in (range(0, 100, 7), range(0, 100, 7), range(0, 100, 5)):
                server.forget_requests()
                begin = time.monotonic()
                with mounted_with(server.url("wide.root"), cache, prefix=network.command("near")) as m:
                    for n in columns:
                        path = f"events/x{n}.f8"
                        assert remote_files.read(os.path.join(m.path, path), 20) == local["wide"][path]
                times.append((time.monotonic() - begin, len(server.requests())))
    print(times)
    assert times[1][1] == 1
    assert times[1][0] < times[0][0] and times[1][0] < 2 * RTT_MS / 1000 * GENEROUS + 1
    assert times[2][1] <= times[0][1] + 6


# ---- many at once, and ends of every kind


def test_many_mounts_at_once(server, cache, local):
    url = server.url("wide.root")
    mounts = [mounted_with(url, cache) for _ in range(8)]
    try:
        readers = [subprocess.Popen(["cat", os.path.join(m.path, f"events/x{column}.f8")],
                                    stdout=subprocess.PIPE)
                   for column in range(0, 40, 5) for m in mounts]
        found = [reader.communicate(timeout=60)[0] for reader in readers]
        wanted = [local["wide"][f"events/x{column}.f8"] for column in range(0, 40, 5) for _ in mounts]
        assert found == wanted
        for m in mounts:
            assert counts(m)["disk_failures"] == 0
    finally:
        assert [m.close() for m in mounts] == [0] * len(mounts)
    assert len(cached(cache)) == 1
    with mounted_with(url, cache) as m:
        for column in range(0, 40, 5):
            assert remote_files.read(os.path.join(m.path, f"events/x{column}.f8"), 10) == local["wide"][f"events/x{column}.f8"]
        assert counts(m)["requests"] == 1


def test_another_mount_reads_what_this_one_fetches(server, cache, local):
    """While both are mounted."""
    url = server.url("remote.root")
    with mounted_with(url, cache) as one, mounted_with(url, cache) as other:
        path = "events/x3.f8"
        assert remote_files.read(os.path.join(one.path, path), 10) == local["remote"][path]
        one_is_written(cache)
        before = counts(other)["bytes"]
        assert remote_files.read(os.path.join(other.path, path), 10) == local["remote"][path]
        assert counts(other)["bytes"] == before


def one_is_written(cache):
    """Waits until the file has not grown for a moment."""
    size = -1
    while (now := os.path.getsize(cached(cache)[0])) != size:
        size = now
        time.sleep(0.2)


def test_a_mount_that_is_killed(server, cache, local):
    url = server.url("wide.root")
    chosen = random.Random(3)
    for _ in range(4):
        m = mounted_with(url, cache)
        reader = subprocess.Popen(["cat", *(os.path.join(m.path, f"events/x{n}.f8") for n in range(60))],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            reader.wait(chosen.random() * 0.2)
        except subprocess.TimeoutExpired:
            pass
        m.process.send_signal(signal.SIGKILL)
        m.process.wait()
        reader.wait(20)
        m.close()
    for _ in range(2):
        with mounted_with(url, cache) as m:
            for n in range(60):
                assert remote_files.read(os.path.join(m.path, f"events/x{n}.f8"), 10) == local["wide"][f"events/x{n}.f8"]
            last = counts(m)
    assert last["requests"] == 1


def test_bits_that_flip(server, cache, local):
    url = server.url("middle.root")
    chosen = random.Random(5)
    for _ in range(8):
        with mounted_with(url, cache) as m:
            assert remote_files.everything(m.path) == local["middle"]
            assert m.errors() == ""
        [path] = cached(cache)
        content = bytearray(path.read_bytes())
        for _ in range(20):
            content[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        path.write_bytes(content[:chosen.randrange(len(content))] if chosen.random() < 0.3 else content)


def test_a_directory_that_is_removed(server, cache, local):
    with mounted_with(server.url("remote.root"), cache) as m:
        assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["remote"]["events/x3.f8"]
        shutil.rmtree(cache)
        assert remote_files.everything(m.path) == local["remote"]
        assert m.errors() == ""
    assert stat.S_IMODE(os.stat(cache).st_mode) == 0o700 and cached(cache)


def test_a_directory_that_takes_nothing(server, cache, local):
    """As of a full disk: files cannot grow."""
    limited = ["prlimit", "--fsize=100000"]
    m = mounted.Mounted(server.url("remote.root"), ("timeout=10", f"diskcache={cache}"),
                        environment=remote_files.environment(), prefix=limited)
    with m:
        assert remote_files.everything(m.path) == local["remote"]
        assert counts(m)["disk_failures"] == 1
    with mounted_with(server.url("remote.root"), cache) as m:
        assert remote_files.everything(m.path) == local["remote"]


def test_a_size_that_is_too_small_for_the_file(server, cache, local):
    for _ in range(2):
        with mounted_with(server.url("remote.root"), f"{cache}:1M") as m:
            assert remote_files.everything(m.path) == local["remote"]
    assert sum(path.stat().st_size for path in cached(cache)) <= 2 << 20


# ---- whose directory, and what is in it


def test_secrets_are_nowhere(server, cache):
    url = server.url("middle.root", user="user:pass-secret") + "?token=query-secret"
    for _ in range(2):
        with mounted_with(url, cache, BEARER_TOKEN="bearer-secret") as m:
            remote_files.everything(m.path)
            with open(os.path.join(m.path, ".tfilefs", "config.json")) as file:
                assert json.load(file)["diskcache"] == str(cache)
    paths = [cache, *cache.iterdir()]
    assert len(paths) > 1
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path == cache else 0o600)
        text = os.fsencode(path.name) + (b"" if path == cache else path.read_bytes())
        for word in (b"secret", b"127.0.0.1", b"http://", b"middle.root?"):
            assert word not in text


def test_who_may_not_read_a_file_does_not_read_it_from_the_disk(server, cache, local):
    def rule(exchange):
        allowed = exchange.request.headers.get("authorization") == "Bearer right"
        return False if allowed else faulty.status(401)(exchange)

    server.rule = rule
    url = server.url("remote.root")
    for _ in range(2):
        with mounted_with(url, cache, BEARER_TOKEN="right") as m:
            assert remote_files.everything(m.path) == local["remote"]
        with pytest.raises(mounted.MountFailed) as failed:
            with mounted_with(url, cache, BEARER_TOKEN="wrong"):
                pass
        assert "401" in failed.value.message


def test_a_directory_of_others_is_refused(server, cache):
    cache.mkdir()
    cache.chmod(0o777)
    status, said, _ = remote_files.failure("-o", f"diskcache={cache}", server.url("remote.root"), limit=20)
    assert status == 1 and "others may write to it" in said
    cache.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(cache, 1, 1)
        status, said, _ = remote_files.failure("-o", f"diskcache={cache}", server.url("remote.root"), limit=20)
        assert status == 1 and "belongs to another user" in said


def make_link(path):
    path.symlink_to("/nonexistent/target")


def make_open_to_others(path):
    path.touch()
    path.chmod(0o664)


@pytest.mark.parametrize("make", (make_link, os.mkdir, os.mkfifo, make_open_to_others))
def test_the_size_is_kept_whatever_stands_in_the_place_of_the_lock(server, cache, local, make):
    cache.mkdir(0o700)
    make(cache / "lock")
    for name in ("remote", "wide"):
        with mounted_with(server.url(name + ".root"), f"{cache}:1M") as m:
            assert remote_files.everything(m.path) == local[name]
    assert sum(path.stat().st_size for path in cached(cache)) <= 2 << 20


def test_a_file_with_another_name_is_not_written_to(server, cache, local, tmp_path):
    for content in (b"", b"of the user"):
        with mounted_with(server.url("small.root"), cache) as m:
            remote_files.everything(m.path)
        [path] = cached(cache)
        path.unlink()
        other = tmp_path / "other"
        other.write_bytes(content)
        os.link(other, path)
        for _ in range(2):
            with mounted_with(server.url("small.root"), cache) as m:
                assert remote_files.everything(m.path) == local["small"]
                last = counts(m)
        assert other.read_bytes() == content and last["requests"] == 1
        other.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a directory read-only")
def test_a_directory_that_can_only_be_read_is_read(server, cache, local):
    with mounted_with(server.url("remote.root"), cache) as m:
        remote_files.everything(m.path)
    subprocess.run(["mount", "--bind", cache, cache], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", cache], check=True)
        for name, requests in (("remote", 1), ("middle", None)):
            with mounted_with(server.url(name + ".root"), cache) as m:
                assert remote_files.everything(m.path) == local[name]
                last = counts(m)
            assert requests in (last["requests"], None)
        assert last["disk_failures"] == 1
    finally:
        subprocess.run(["umount", "-l", cache], check=True)


@pytest.mark.parametrize("value", ("", ":5G", "/tmp/x:10"))
def test_values_that_are_refused(server, value):
    status, said, _ = remote_files.failure("-o", f"diskcache={value}", server.url("remote.root"), limit=20)
    assert status == 2 and "diskcache" in said


# ---- XRootD


@pytest.fixture(scope="module")
def xrootd():
    with xrootd_server.XrootdServer() as running:
        yield running


@pytest.mark.parametrize("name", ("remote", "small"))
def test_xrootd(xrootd, directory, cache, local, name):
    url = xrootd.put(os.path.join(directory, name + ".root"))
    os.utime(xrootd.path(name + ".root"), (DATE, DATE))
    for _ in range(2):
        before = len(xrootd.requests())
        with mounted_with(url, cache) as m:
            assert remote_files.everything(m.path) == local[name]
            last = counts(m)
            asked = xrootd.requests()[before:]
    print(name, last, asked)
    assert last["bytes"] == 0 and last["disk_bytes"] > 0
    assert not {"read", "readv", "pgread"} & set(asked)


def test_xrootd_file_that_changed(xrootd, directory, cache, local):
    for name, date in (("remote", DATE), ("middle", DATE + 100), ("remote", DATE)):
        url = xrootd.put(os.path.join(directory, name + ".root"), "changing.root")
        os.utime(xrootd.path("changing.root"), (date, date))
        with mounted_with(url, cache) as m:
            assert remote_files.everything(m.path) == local[name]
