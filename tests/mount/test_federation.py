# SPDX-License-Identifier: Apache-2.0
"""A redirector with two data servers, and a caching proxy in front of them: their directories, and readers that go on when
one of the servers is gone."""

import os
import subprocess
import time

import numpy as np
import pytest
import uproot

import remote_files
import mounted
import xrootd_federation
import xrootd_server

# The client library gives a silent server up after half of it, and then a new connection to it after a quarter. In what is
# left the redirector has to find out that the server is gone: on two busy cores that took longer than 2.5 s.
TIMEOUT = 20
COLUMN = "T/x.f8"
VALUES = np.random.default_rng(1).random(1_000_000)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("content") / "both.root"
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("T", {"x": "f8"})
        for part in np.split(VALUES, 10):
            tree.extend({"x": part})
    return path


@pytest.fixture(scope="module")
def federation(content):
    """Both servers have both.root; each has a file of its own."""
    with xrootd_federation.Federation() as found:
        for number, server in enumerate(found.servers):
            server.put(content, "both.root")
            server.put(content, f"sub/only{number}.root")
        for path in ("both.root", "sub/only0.root", "sub/only1.root"):
            found.wait_for(found.redirector.url(path))
        yield found


def mounted_from(url):
    return mounted.Mounted(url, (f"timeout={TIMEOUT}", "recheck=0", "prefetch=off"))


def read(*path, timeout=TIMEOUT):
    return remote_files.read(os.path.join(*path), timeout)


def test_a_directory_has_the_files_of_all_servers(federation):
    with mounted_from(federation.redirector.url("")) as m:
        assert sorted(os.listdir(m.path)) == ["both.root", "sub"]
        assert sorted(os.listdir(os.path.join(m.path, "sub"))) == ["only0.root", "only1.root"]
        for path in ("both.root", "sub/only0.root", "sub/only1.root"):
            assert read(m.path, path, COLUMN) == VALUES.tobytes(), path
        assert "is listed twice" not in m.errors()


def test_a_caching_proxy_lists_and_reads_for_its_origin(federation):
    proxy = f"root://127.0.0.1:{federation.proxy.port}//"
    double = proxy + federation.servers[1].url("")
    with mounted_from(double) as m:
        assert sorted(os.listdir(m.path)) == ["both.root", "sub"]
        assert read(m.path, "sub/only1.root", COLUMN, timeout=20) == VALUES.tobytes()
    with mounted_from(double + "b*.root") as m:
        assert os.listdir(m.path) == ["both.root"]
    # The proxy itself does not list through a redirector (5.5), but reads.
    for url in (federation.proxy.url("sub/only0.root"), proxy + federation.redirector.url("sub/only0.root")):
        with mounted_from(url) as m:
            assert read(m.path, COLUMN, timeout=20) == VALUES.tobytes(), url


def test_a_chain_of_copies_whose_dates_differ(federation, tmp_path):
    """The redirector names now one server and now the other. More files than stay open, so each is opened more than once."""
    content = tmp_path / "small.root"
    with uproot.recreate(content) as file:
        file.mktree("T", {"x": "f8"}).extend({"x": VALUES[:1000]})
    for number, server in enumerate(federation.servers):
        for copy in range(24):
            server.put(content, f"copies/{copy:02d}.root")
            os.utime(server.path(f"copies/{copy:02d}.root"), (1_700_000_000 + number, 1_700_000_000 + number))
    urls = [federation.redirector.url(f"copies/{copy:02d}.root") for copy in range(24)]
    federation.wait_for(urls[-1])
    options = ("chain", f"timeout={TIMEOUT}", "recheck=0", "memory=2M", f"index={tmp_path}/index")
    for _ in range(2):
        with mounted.Mounted(urls, options) as m:
            with open(os.path.join(m.path, COLUMN), "rb", buffering=0) as column:
                for copy in (*range(24), *range(24)):
                    assert os.pread(column.fileno(), 80, 8000 * copy) == VALUES[:10].tobytes()
                    os.posix_fadvise(column.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            assert read(m.path, COLUMN, timeout=20) == VALUES[:1000].tobytes() * 24


def test_a_redirector_that_starts_again(federation):
    """Who reads goes on without it. Lists and other files fail in time, and are right soon."""
    with mounted_from(federation.redirector.url("")) as m, open(os.path.join(m.path, "both.root", COLUMN), "rb") as column:
        assert column.read(80_000) == VALUES[:10_000].tobytes()
        federation.redirector.kill()
        try:
            column.seek(4_000_000)
            assert column.read(80_000) == VALUES[500_000:510_000].tobytes()
            begun = time.monotonic()
            assert remote_files.names(os.path.join(m.path, "sub"), TIMEOUT) in ("EIO", "ETIMEDOUT")
            assert time.monotonic() - begun < TIMEOUT + remote_files.SLOW
        finally:
            federation.redirector.start()
        column.seek(7_200_000)
        assert column.read(80_000) == VALUES[900_000:910_000].tobytes()
        other = lambda: read(m.path, "sub/only0.root", COLUMN)
        assert remote_files.becomes(VALUES.tobytes(), other, 30) == VALUES.tobytes()


def test_a_proxy_whose_origin_is_gone(federation, content):
    """What the proxy holds is answered. The rest fails in time: the proxy waits for its origin, and its answers to others
    tell nothing of a read that was sent before theirs. (The proxy tries a lost origin again after two minutes.)"""
    timeout = 4
    with xrootd_server.XrootdServer() as origin:
        for name in ("held.bin", "apart.root"):
            origin.put(content, name)
        held_bytes = content.read_bytes()
        url = f"root://127.0.0.1:{federation.proxy.port}//" + origin.url("")
        options = (f"timeout={timeout}", "prefetch=off")
        with mounted.Mounted(url, options) as m:
            assert read(m.path, "held.bin", timeout=20) == held_bytes
        with (mounted.Mounted(url, options) as m, open(os.path.join(m.path, "held.bin"), "rb", buffering=0) as held,
              open(os.path.join(m.path, "apart.root", COLUMN), "rb", buffering=0) as apart):
            for file in (held, apart):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            assert apart.read(80_000) == VALUES[:10_000].tobytes()
            assert held.read(80) == held_bytes[:80]
            origin.stop()
            assert os.pread(apart.fileno(), 80_000, 0) == VALUES[:10_000].tobytes()
            begun = time.monotonic()
            with subprocess.Popen(["tail", "-c", "80", apart.name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as waiting:
                for place in range(4096, len(held_bytes), 4096):
                    if waiting.poll() is not None:
                        break
                    assert os.pread(held.fileno(), 80, place) == held_bytes[place:][:80]
                    time.sleep(0.05)
                waiting.kill()
                assert waiting.stderr.read()
            assert time.monotonic() - begun < timeout + remote_files.SLOW
            assert read(m.path, "apart.root", COLUMN, timeout=2 * timeout) in ("EIO", "ETIMEDOUT")


def holder_of(federation):
    """The server that has opened both.root last."""
    opened = {server: server.requests().count("open") for server in federation.servers}
    return lambda: next(server for server in federation.servers if server.requests().count("open") > opened[server])


def test_a_reader_goes_on_when_a_server_is_silent_and_when_one_is_killed(federation):
    """The second server is killed while the first answers again. Lists fail while one is silent, and are right soon."""
    found = holder_of(federation)
    with mounted_from(federation.redirector.url("")) as m, open(os.path.join(m.path, "both.root", COLUMN), "rb") as column:
        assert column.read(80_000) == VALUES[:10_000].tobytes()
        silent = found()
        silent.pause()
        try:
            begun = time.monotonic()
            column.seek(4_000_000)
            assert column.read(80_000) == VALUES[500_000:510_000].tobytes()
            assert time.monotonic() - begun < TIMEOUT + remote_files.SLOW
            begun = time.monotonic()
            assert remote_files.names(os.path.join(m.path, "sub"), TIMEOUT) in ("EIO", "ETIMEDOUT", b"only0.root\n", b"only1.root\n")
            assert time.monotonic() - begun < TIMEOUT + remote_files.SLOW
        finally:
            silent.resume()
        names = lambda: remote_files.names(os.path.join(m.path, "sub"), TIMEOUT)
        both = b"only0.root\nonly1.root\n"
        assert remote_files.becomes(both, names, 20) == both  # the redirector knows the server again
        other = next(server for server in federation.servers if server is not silent)
        other.kill()
        begun = time.monotonic()
        column.seek(7_200_000)
        assert column.read(80_000) == VALUES[900_000:910_000].tobytes()
        assert time.monotonic() - begun < TIMEOUT + remote_files.SLOW
        left = f"only{federation.servers.index(silent)}.root"
        assert remote_files.becomes(f"{left}\n".encode(), names, 20) == f"{left}\n".encode()
