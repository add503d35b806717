# SPDX-License-Identifier: Apache-2.0
"""Files of an XRootD server: read as local ones are, in few waves, and without ever waiting for ever."""

import errno
import glob
import itertools
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import uproot

import remote_files
import http_server
import mounted
import xrootd_server


@pytest.fixture(scope="module")
def server():
    with xrootd_server.XrootdServer() as running:
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """name -> a file: smaller than what is read as a whole, larger, and an RNTuple."""
    directory = tmp_path_factory.mktemp("remote")
    random = np.random.default_rng(1)
    columns = {f"x{i}": random.random(20_000) for i in range(40)}
    counts = random.integers(0, 5, 20_000)
    with uproot.recreate(directory / "large.root", compression=uproot.ZLIB(1)) as file:
        for tree in ("Events", "T"):
            file[tree] = columns | {"n": counts}
    with uproot.recreate(directory / "small.root") as file:
        file["T"] = {"a": counts[:100]}
    with uproot.recreate(directory / "ntuple.root") as file:
        file.mkrntuple("N", {"x": np.dtype("f8")}).extend({"x": random.random(300_000)})
    found = {name: str(directory / f"{name}.root") for name in ("large", "small", "ntuple")}
    assert os.path.getsize(found["small"]) < 1 << 20 < os.path.getsize(found["ntuple"]) < os.path.getsize(found["large"])
    return found


def run(*arguments, timeout=100, environment=None):
    done = subprocess.run([mounted.program(), *arguments], capture_output=True, text=True, errors="replace", timeout=timeout,
                          env=os.environ | (environment or {}))
    return done.returncode, done.stdout, done.stderr


def format_tests():
    path = os.path.join(os.path.dirname(mounted.program()), "..", "tests", "format_tests")
    if not os.path.exists(path):
        pytest.skip(f"{path} is not built")
    return path


def start_source_tests(which, server, file, **more):
    """Starts the source's own tests for a file of the server."""
    name = os.path.basename(file)
    environment = {"TFILEFS_XROOTD_URL": server.put(file, name), "TFILEFS_XROOTD_FILE": file, **more}
    return subprocess.Popen([format_tests(), f"--gtest_filter={which}"], env=os.environ | environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end_of(process, timeout=100):
    output, _ = process.communicate(timeout=timeout)
    assert process.returncode == 0 and "FAILED" not in output, output
    assert "PASSED" in output and "SKIPPED" not in output, output
    return output


# ---- the same as of the local file


@pytest.mark.parametrize("command", ["check", "map"])
@pytest.mark.parametrize("name", ["large", "small", "ntuple"])
def test_commands_tell_the_same(server, files, command, name):
    url = server.put(files[name])
    remote, local = run(command, url), run(command, files[name])
    assert (remote[0], remote[1].replace(url, "FILE"), remote[2]) == (local[0], local[1].replace(files[name], "FILE"), local[2])
    assert len(remote[1]) > 50


def test_other_names_of_the_scheme(server, files):
    name = os.path.basename(server.put(files["small"]))
    for scheme in ("xroot",):
        assert run("ls", server.url(name, scheme=scheme)) == run("ls", files["small"])


def test_listing_tells_the_same(server, files):
    url = server.put(files["large"])
    remote = run("ls", "-R", url)
    assert remote == run("ls", "-R", files["large"])


@pytest.mark.corpus
def test_corpus(server):
    directory = os.environ.get("TFILEFS_CORPUS")
    if not directory:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    paths = sorted(glob.glob(os.path.join(directory, "files", "*.root")))[::12]
    assert len(paths) > 5
    for path in paths:
        name = os.path.basename(path)
        url = server.put(path, "corpus/" + name)
        remote, local = run("map", url), run("map", path)
        assert (remote[0], remote[1]) == (local[0], local[1]), name
        os.remove(server.path("corpus/" + name))


# ---- in few waves


def waves(requests):
    """The requests behind the open, where those that were sent together are one wave: an answer cannot be told from the
    log, but reads of one wave stand side by side."""
    assert "open" in requests
    behind = requests[requests.index("open") + 1 :]
    return [name for name, _ in itertools.groupby(behind) if name in ("read", "readv")]


def test_opening_takes_two_waves(server, files):
    for name in ("large", "small", "ntuple"):
        url = server.put(files[name])
        before = len(server.requests())
        assert run("classes", url, "--help")[0] == 0  # no connection yet: nothing is asked before it is needed
        assert len(server.requests()) == before
        assert run("map", server.url("none.root"))[0] != 0
        before = len(server.requests())
        out = os.path.join(os.path.dirname(files[name]), "headers")
        assert run("classes", url, out)[0] == 0
        asked = server.requests()[before:]
        assert asked.count("open") == 1 and asked.count("query") <= 1, asked
        assert asked.count("read") + asked.count("readv") <= (1 if name == "small" else 4), asked
        assert len(waves(asked)) <= 2, asked


# ---- errors


def test_a_missing_file_is_one_line(server):
    status, out, error = run("map", server.url("none.root"))
    assert status != 0 and out == ""
    assert re.fullmatch(rf"tfilefs: {re.escape(server.url('none.root'))}: .*[Nn]o such file.*\n", error), error


def test_a_directory_is_no_file(server):
    os.makedirs(server.path("folder"), exist_ok=True)
    status, _, error = run("map", server.url("folder"))
    assert status != 0 and error.count("\n") == 1, error


def test_a_file_that_may_not_be_read(server, files):
    url = server.put(files["small"], "closed.root")
    os.chmod(server.path("closed.root"), 0)
    status, _, error = run("map", url)
    assert status != 0 and error.startswith(f"tfilefs: {url}: ") and error.count("\n") == 1, error


def test_a_refused_connection_is_told_soon():
    xrootd_server.require()
    url = f"root://127.0.0.1:{xrootd_server.free_port()}//data/a.root"
    begin = time.monotonic()
    status, _, error = run("map", url)
    assert time.monotonic() - begin < 10
    assert status != 0 and error.startswith(f"tfilefs: {url}: ") and error.count("\n") == 1, error


def test_an_unknown_host_is_told_soon():
    xrootd_server.require()
    begin = time.monotonic()
    status, _, error = run("map", "root://no-such-host.invalid//data/a.root")
    assert time.monotonic() - begin < 30
    assert status != 0 and error.count("\n") == 1, error


def test_credentials_are_not_shown(server):
    shown = server.url("none.root", query="?authz=***&n=1")
    given = server.url("none.root", login="me:word@", query="?authz=Bearer%20token&n=1")
    for command in ("map", "check"):
        status, out, error = run(command, given)
        assert status != 0 and error.startswith(f"tfilefs: {shown}: "), error
        for secret in ("me:", "word", "Bearer", "token"):
            assert secret not in out + error


def test_secrets_of_a_mount_are_told_nowhere(files):
    with xrootd_server.XrootdServer() as server:
        name = os.path.basename(server.put(files["large"]))
        url = server.url(name, login="me:word-secret@", query="?authz=Bearer%20token-secret")
        with mounted.Mounted(url, ("timeout=2", "recheck=0", "prefetch=off")) as m:
            os.listdir(os.path.join(m.path, "Events"))
            server.stop()
            assert remote_files.read(os.path.join(m.path, "Events", "x1.f8"), 2) in ("EIO", "ETIMEDOUT")
            assert "large.root" in m.errors()
            told = m.messages() + m.errors()
            for file in ("stats.json", "metrics", "config.json"):
                with open(os.path.join(m.path, ".tfilefs", file)) as text:
                    told += text.read()
            with open("/proc/self/mountinfo") as mounts:
                told += mounts.read()
    assert "secret" not in told, [line for line in told.splitlines() if "secret" in line]


def test_who_asks_is_as_the_library_finds_it(files, tmp_path):
    """A secret that both sides share, in a file that the environment names."""
    key = str(tmp_path / "key")
    subprocess.run(["xrdsssadmin", "-k", "tests", "-u", "someone", "-g", "some", "add", key], check=True, capture_output=True)
    lines = ("xrootd.seclib libXrdSec.so", "sec.protocol sss -s {base}/key", "sec.protbind * only sss")
    with xrootd_server.XrootdServer(*lines, files={"key": key}) as server:
        url = server.put(files["small"])
        status, _, error = run("ls", "-o", "timeout=5", url, environment={"XrdSecSSSKT": str(tmp_path / "none")})
        assert status != 0 and error.startswith(f"tfilefs: {url}: ") and error.count("\n") == 1, error
        assert run("ls", "-1", url, environment={"XrdSecSSSKT": key}) == (0, "T\n", "")
        with mounted.Mounted(url, ("timeout=5",), environment=os.environ | {"XrdSecSSSKT": key}) as m:
            assert os.listdir(os.path.join(m.path, "T"))


def test_roots_over_tls(files, tmp_path_factory):
    """The server's certificate is checked with the authorities of X509_CERT_DIR, and nothing goes without TLS."""
    directory = str(tmp_path_factory.mktemp("tls"))
    certificate = http_server.make_certificate(directory)
    authorities = os.path.join(directory, "authorities")
    os.mkdir(authorities)
    trusted = {"X509_CERT_DIR": authorities}
    server = xrootd_server.XrootdServer("xrd.tls {base}/own.pem {base}/own.key", "xrd.tlsca noverify", "xrootd.tls all",
                                        files={"own.pem": certificate.certificate, "own.key": certificate.key})
    with server:
        url = server.url(os.path.basename(files["small"]), scheme="roots", host="localhost")
        server.put(files["small"], os.path.basename(files["small"]))
        status, _, error = run("ls", url, environment=trusted)
        assert status != 0 and "TLS" in error and error.count("\n") == 1, error
        shutil.copy(certificate.authority, authorities)
        subprocess.run(["openssl", "rehash", authorities], check=True)
        assert run("ls", "-1", url, environment=trusted) == (0, "T\n", "")
        assert run("check", url, environment=trusted)[0] == 0
        assert "connection upgraded to TLS" in server.log()


# ---- mounted


def names_and_bytes(top):
    return {
        os.path.relpath(os.path.join(folder, name), top): open(os.path.join(folder, name), "rb").read()
        for folder, _, found in os.walk(top)
        for name in found
        if ".tfilefs" not in folder
    }


@pytest.mark.parametrize("name", ["large", "small", "ntuple"])
def test_a_mount_has_the_same_bytes(server, files, mount, name):
    url = server.put(files[name])
    assert names_and_bytes(mount(url).path) == names_and_bytes(mount(files[name]).path)


def test_a_column_takes_few_requests(server, files, mount):
    url = server.put(files["large"])
    local = mount(files["large"])
    column = next(name for name in names_and_bytes(local.path) if "x7" in name)
    top = mount(url).path
    before = len(server.requests())
    with open(os.path.join(top, column), "rb") as remote, open(os.path.join(local.path, column), "rb") as near:
        assert remote.read() == near.read()
    asked = server.requests()[before:]
    assert asked.count("open") <= 1
    assert asked.count("read") + asked.count("readv") <= 8, asked


def test_within_recheck_the_state_is_asked_for_once(server, files, mount):
    """With the opening; no read and no open asks again."""
    url = server.put(files["large"])
    before = len(server.requests())
    top = mount(url, "recheck=60").path
    for column in range(0, 40, 8):
        with open(os.path.join(top, "Events", f"x{column}.f8"), "rb") as file:
            assert len(file.read()) == 160_000
    asked = server.requests()[before:]
    assert asked.count("stat") <= 1 and asked.count("open") == 1, asked


def test_bytes_of_two_states_are_not_mixed(server, mount, tmp_path):
    """A file that is written over. With recheck=0 the server is asked along with each read."""
    paths = [str(tmp_path / name) for name in ("former.root", "latter.root")]
    for path, more in zip(paths, (0.0, 0.5)):
        with uproot.recreate(path, compression=None) as file:
            tree = file.mktree("T", {"x": "f8"})
            for begin in range(0, 400_000, 10_000):
                tree.extend({"x": np.arange(begin, begin + 10_000) + more})
    assert os.path.getsize(paths[0]) == os.path.getsize(paths[1])
    url = server.put(paths[0], "over.root")
    os.utime(server.path("over.root"), (1_700_000_000, 1_700_000_000))
    with open(os.path.join(mount(url, "recheck=0", "prefetch=off").path, "T/x.f8"), "rb", buffering=0) as column:
        os.posix_fadvise(column.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        assert np.array_equal(np.frombuffer(os.pread(column.fileno(), 8000, 0)), np.arange(1000))
        with open(paths[1], "rb") as after, open(server.path("over.root"), "r+b") as served:
            served.write(after.read())
        with pytest.raises(OSError) as raised:
            os.pread(column.fileno(), 8000, 8 * 200_000)
    assert raised.value.errno == errno.ESTALE


def test_all_columns_one_after_another_are_few_requests(server, files, mount):
    """40 columns. They are not small: as many are loaded ahead as were read."""
    top = mount(server.put(files["large"])).path
    paths = [os.path.join(top, "Events", f"x{column}.f8") for column in range(40)]
    os.listdir(os.path.dirname(paths[0]))
    before = len(server.requests())
    for path in paths:
        with open(path, "rb") as column:
            assert len(column.read()) == 160_000
    asked = server.requests()[before:]
    assert asked.count("read") + asked.count("readv") <= 14, asked


def test_columns_that_are_open_are_one_request(server, files, mount):
    top = mount(server.put(files["large"])).path
    paths = [os.path.join(top, "Events", f"x{column}.f8") for column in range(0, 40, 10)]
    os.listdir(os.path.dirname(paths[0]))
    before = len(server.requests())
    columns = [os.open(path, os.O_RDONLY) for path in paths]
    for column in columns:
        os.posix_fadvise(column, 0, 0, os.POSIX_FADV_RANDOM)
        assert len(os.pread(column, 80, 800)) == 80
        os.close(column)
    asked = server.requests()[before:]
    assert asked.count("read") + asked.count("readv") <= 2, asked


def test_a_new_file_is_shown(server, files, mount):
    url = server.put(files["large"], "changing.root")
    mounted_one = mount(url, "recheck=1")
    assert "N" not in os.listdir(mounted_one.path)
    server.put(files["ntuple"], "changing.root")
    mounted.wait_until(lambda: "N" in os.listdir(mounted_one.path), 10)


def test_a_mount_outlives_its_server(files, mount):
    with xrootd_server.XrootdServer() as server:
        remote, near = mount(server.put(files["large"]), "timeout=10"), mount(files["large"])
        expected = names_and_bytes(near.path)
        assert set(os.listdir(remote.path)) == set(os.listdir(near.path))
        server.stop()
        threading.Timer(2, server.start).start()
        assert names_and_bytes(remote.path) == expected


def test_a_mount_does_not_wait_for_ever(files):
    with xrootd_server.XrootdServer() as server:
        with mounted.Mounted(server.put(files["large"]), ["timeout=2", "recheck=1"]) as remote:
            column = next(os.path.join(folder, name) for folder, _, found in os.walk(remote.path)
                          for name in found if "x7" in name and ".tfilefs" not in folder)
            mounted.stop_threads(server.process.pid)
            time.sleep(1.1)
            begin = time.monotonic()
            with pytest.raises(OSError):
                open(column, "rb").read()
            assert time.monotonic() - begin < 15
            begin = time.monotonic()
        assert time.monotonic() - begin < 5 + remote_files.SLOW


# ---- the source's own tests, with a server


def test_source(server, files):
    end_of(start_source_tests("Xrootd*-*ServerIsAway:*Changed*:*Replaced*:*Hangs*", server, files["large"]))


def test_a_changed_file_is_stale(server, files):
    name = os.path.basename(files["large"])
    end_of(start_source_tests("*AChangedFile*:*AReplacedFile*", server, files["large"], TFILEFS_XROOTD_SERVED=server.path(name)))


def test_a_server_that_hangs(files):
    with xrootd_server.XrootdServer() as server:
        end_of(start_source_tests("*ServerThatHangs*", server, files["large"], TFILEFS_XROOTD_PROCESS=str(server.process.pid)))


def test_a_server_that_starts_again(files):
    with xrootd_server.XrootdServer() as server:
        process = start_source_tests("*ServerIsAway*", server, files["large"], TFILEFS_XROOTD_SECONDS="8")
        for _ in range(2):
            time.sleep(1.5)
            server.stop(signal.SIGKILL)
            time.sleep(1)
            server.start()
        assert "longest read" in end_of(process)
