# SPDX-License-Identifier: Apache-2.0
"""Directories of servers as trees of files: what XRootD, WebDAV, nginx and S3 list, patterns in URLs, and servers that
list wrong, late or without end."""

import contextlib
import errno
import json
import os
import random
import re
import signal
import stat
import subprocess
import time

import numpy as np
import pytest
import uproot

import faulty_server as faulty
import remote_files
import http_server
import listings
import mounted
import xrootd_server

BIG = random.Random(1).randbytes(3_000_000)
ODD = "odd %41+&=é.txt"
TIMEOUT = 2
COLUMN = "T/x.i8"
VALUES = np.arange(100).tobytes()


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.root"
    with uproot.recreate(path) as file:
        file["T"] = {"x": np.arange(100)}
    return path.read_bytes()


def files_of(content):
    """{path: bytes} of the directory that all servers serve."""
    return {"run1.root": content, "run2.root": content, "run10.root": content, "other.root": content, "bad.root": b"no ROOT file",
            "notes.txt": b"some notes\n", "big.bin": BIG, ODD: b"odd", "sub/c.root": content, "sub/deep/d.txt": b"deep",
            "sub2/c.root": content, "sub2/x.txt": b"x", **{f"many/f{i}.root": b"." for i in range(1_000)}}


TOP = {"run1.root", "run2.root", "run10.root", "other.root", "bad.root", "notes.txt", "big.bin", ODD, "sub", "sub2", "many"}


class Place:
    """A directory of a server: its URL, what clients run with, and how many lists were asked for, and opened files."""

    def __init__(self, url, lists, opened, environment=None, pages=lambda names: 1, vain=0):
        self.url, self.lists, self.opened, self.environment = url, lists, opened, environment
        self.pages = pages  # how many requests a list of so many names takes
        self.vain = vain  # and how many more, until a client knows how to ask

    def run(self, *arguments):
        return subprocess.run([mounted.program(), *arguments], capture_output=True, text=True, timeout=60,
                              env=self.environment)

    def mount(self, *options, pattern=""):
        return mounted.Mounted(self.url + pattern, ("timeout=20", *options), environment=self.environment)


def write_tree(directory, files):
    for path, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(directory, path)), exist_ok=True)
        with open(os.path.join(directory, path), "wb") as file:
            file.write(data)


@contextlib.contextmanager
def of_xrootd(files, _):
    with xrootd_server.XrootdServer() as server:
        write_tree(server.path(""), files)
        yield Place(server.url(""), lambda: server.requests().count("dirlist"), lambda: server.requests().count("open"))


@contextlib.contextmanager
def of_xrootd_dav(files, _):
    with xrootd_server.XrootdServer("xrd.protocol http libXrdHttp.so") as server:
        write_tree(server.path(""), files)
        # Requests of HTTP become its own: kXR_dirlist, kXR_open.
        count = lambda number: lambda: server.log().count(f"Bridge req={number} ")
        yield Place(f"dav://127.0.0.1:{server.port}/data/", count(3004), count(3010))


@contextlib.contextmanager
def of_nginx(files, directory):
    write_tree(directory, files)
    settings = "autoindex on; autoindex_format json;"
    with http_server.Nginx(directory, settings=settings) as server:
        lists = lambda: sum(request.path.endswith("/") for request in server.requests())
        opened = lambda: sum(bool(request.range) for request in server.requests())
        # It does not know PROPFIND.
        yield Place(server.url(), lists, opened, vain=1)


@contextlib.contextmanager
def of_s3(files, _):
    keys = {"key_id": "AKIATESTS", "secret": "secret/of+the=tests", "region": "eu-west-3"}
    with faulty.FaultyServer() as server:
        for path, data in files.items():
            server.put("/bucket/" + remote_quoted("data/" + path), data)
        lists = listings.s3(page_size=4)
        server.rule = lambda exchange: lists(exchange) if listings.is_signed(exchange.request, **keys) else faulty.status(403)(
            exchange)
        environment = dict(remote_files.environment(), AWS_ENDPOINT_URL=server.url(""), AWS_REGION=keys["region"],
                           AWS_ACCESS_KEY_ID=keys["key_id"], AWS_SECRET_ACCESS_KEY=keys["secret"])
        count = lambda: sum("list-type=2" in request.path for request in server.requests)
        opened = lambda: sum("range" in request.headers for request in server.requests)
        yield Place("s3://bucket/data/", count, opened, environment, pages=lambda names: -(-names // 4))


def remote_quoted(path):
    import urllib.parse
    return urllib.parse.quote(path)


KINDS = {"xrootd": of_xrootd, "dav": of_xrootd_dav, "nginx": of_nginx, "s3": of_s3}


@pytest.fixture(scope="module", params=KINDS)
def place(request, content, tmp_path_factory):
    with KINDS[request.param](files_of(content), tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="module")
def mount(place):
    with place.mount("recheck=3600") as m:
        yield m


def test_a_directory_is_listed_once_and_no_file_is_opened(place, mount):
    before, opened = place.lists(), place.opened()
    listed = subprocess.run(["ls", "-l", mount.path], capture_output=True, text=True, check=True, timeout=30).stdout
    assert {line.split(maxsplit=8)[8] for line in listed.splitlines()[1:]} == TOP
    assert place.lists() == before and place.opened() == opened
    attributes = {name: os.stat(os.path.join(mount.path, name)) for name in TOP}
    assert {name for name, status in attributes.items() if stat.S_ISDIR(status.st_mode)} == {
        "run1.root", "run2.root", "run10.root", "other.root", "bad.root", "sub", "sub2", "many"}
    assert attributes["big.bin"].st_size == len(BIG) and attributes[ODD].st_size == 3
    assert all(1_600_000_000 < status.st_mtime < time.time() + 60 for status in attributes.values())
    assert place.opened() == opened


def test_a_thousand_files_are_listed_at_once(place, mount):
    before, opened = place.lists(), place.opened()
    listed = subprocess.run(["ls", "-l", os.path.join(mount.path, "many")], capture_output=True, text=True, check=True, timeout=60)
    assert len(listed.stdout.splitlines()) == 1_001
    assert place.lists() - before == place.pages(1_000) and place.opened() == opened


def test_what_is_in_it_can_be_read(mount):
    read = lambda *path: remote_files.read(os.path.join(mount.path, *path), 20)
    assert read("notes.txt") == b"some notes\n" and read(ODD) == b"odd" and read("sub", "deep", "d.txt") == b"deep"
    assert read("big.bin") == BIG
    assert read("run1.root", COLUMN) == VALUES and read("sub", "c.root", COLUMN) == VALUES
    with open(os.path.join(mount.path, "big.bin"), "rb") as file:
        file.seek(1_234_567)
        assert file.read(1000) == BIG[1_234_567:1_235_567]
    assert sorted(os.listdir(os.path.join(mount.path, "sub"))) == ["c.root", "deep"]


def test_what_is_not_there_or_no_root_file_is_told_so(mount):
    for path in ("missing", "missing.root", "sub/missing", "run1.root/missing"):
        assert not os.path.exists(os.path.join(mount.path, path))
    with pytest.raises(OSError) as refused:
        os.listdir(os.path.join(mount.path, "bad.root"))
    assert refused.value.errno == errno.EIO
    assert "/bad.root: " in mount.errors()
    for call in (lambda path: open(path, "w"), os.mkdir, os.unlink):
        with pytest.raises(OSError) as refused:
            call(os.path.join(mount.path, "new"))
        assert refused.value.errno in (errno.EROFS, errno.ENOENT)


def test_statistics_count_the_lists(place, mount):
    remote_files.read(os.path.join(mount.path, "run1.root", COLUMN), 20)
    with open(os.path.join(mount.path, ".tfilefs", "stats.json")) as file:
        sources = json.load(file)["sources"]
    assert sources[0]["name"] == place.url and sources[0]["requests"] >= 1
    assert place.url + "run1.root" in [source["name"] for source in sources]


def test_one_list_serves_a_thousand_lookups(place):
    begun = place.lists()
    with place.mount("recheck=3600") as m:
        first = place.lists() - begun
        for name in [*TOP, *(f"missing{i}" for i in range(1_000))]:
            os.path.exists(os.path.join(m.path, name))
        assert place.lists() - begun == first == place.pages(len(TOP)) + place.vain


# ---- patterns


def test_a_mount_of_a_pattern_shows_what_matches(place):
    with place.mount(pattern="{run?,other}.root") as m:
        assert sorted(os.listdir(m.path)) == ["other.root", "run1.root", "run2.root"]
        assert not os.path.exists(os.path.join(m.path, "run10.root"))
        assert remote_files.read(os.path.join(m.path, "run2.root", COLUMN), 20) == VALUES
    with place.mount(pattern="sub*/[c]*") as m:
        assert remote_files.everything(m.path).keys() >= {"sub/c.root/T/x.i8", "sub2/c.root/T/x.i8"}
        assert os.listdir(os.path.join(m.path, "sub2")) == ["c.root"]


def names_of(place, *names):
    return [place.url + name for name in names]


def test_commands_take_each_match(place, tmp_path):
    several = names_of(place, "run1.root", "run2.root", "run10.root")
    pattern = place.url + "run*.root"
    done = place.run("check", pattern)
    assert done.returncode == 0 and [line.split(": ")[0] for line in done.stdout.splitlines()] == [*several, "3 files"]
    done = place.run("map", pattern)
    assert done.returncode == 0 and [line[:-1] for line in done.stdout.splitlines() if line.endswith(".root:")] == several
    done = place.run("ls", "-1", pattern + "/T")
    assert done.returncode == 0 and done.stdout == "\n".join(f"{name}:\nx.i8\n" for name in several)
    done = place.run("ls", "--json", pattern)
    assert [(item["source"], item["path"]) for item in json.loads(done.stdout)] == [(name, "T") for name in several]
    done = place.run("classes", pattern, tmp_path / "headers")
    assert done.returncode == 0 and re.fullmatch(r"\d+ headers in .*\n", done.stdout)
    done = place.run("check", place.url + "{bad,run1}.root")
    assert done.returncode == 8 and "bad.root" in done.stderr and "run1.root" in done.stdout


def test_a_directory_can_be_listed_without_a_mount(place):
    done = place.run("ls", "-1", place.url)
    assert done.returncode == 0 and set(done.stdout.splitlines()) == {name for name in TOP}
    done = place.run("ls", "-l", place.url.removesuffix("/") + "/sub")
    assert done.returncode == 0 and [line.split()[-1] for line in done.stdout.splitlines()] == ["c.root", "deep"]


def test_what_matches_nothing_is_refused_with_a_line(place, tmp_path):
    for command in (["check"], ["map"], ["ls"], ["-f"]):
        point = [] if command[0] != "-f" else [str(tmp_path / "mnt")]
        done = place.run(*command, place.url + "none*.root", *point)
        assert done.returncode in (1, 8) and done.stderr == f"tfilefs: {place.url}none*.root: no file matches\n"
    for wrong in ("missing/", "notes.txt/"):
        done = place.run("ls", "-o", "timeout=2", place.url + wrong)
        assert done.returncode == 1 and done.stderr.count("\n") == 1


# ---- servers that err


@pytest.fixture
def server(content):
    with faulty.FaultyServer() as server:
        for path, data in files_of(content).items():
            server.put("/d/" + remote_quoted(path), data)
        server.rule = listings.dav
        yield server


@contextlib.contextmanager
def mounted_from(server, *options):
    with mounted.Mounted(server.url("d/"), (f"timeout={TIMEOUT}", "recheck=0", *options)) as m:
        yield m


BASE = listings.response("/d/")
ENTITIES = (b'<!DOCTYPE multistatus [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
            b'<multistatus xmlns="DAV:"><response><href>/d/&b;</href></response></multistatus>')


def endless(exchange):
    exchange.head(207, {"Content-Type": "application/xml", "Transfer-Encoding": "chunked"})
    piece = (BASE * 100).encode()
    exchange.raw(b"3\r\n<a>\r\n")
    while not exchange.server.ended.is_set():
        exchange.raw(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def trickling(exchange):
    exchange.head(207, {"Content-Type": "application/xml", "Content-Length": 1_000_000})
    while not exchange.server.ended.is_set():
        exchange.raw(b" ")
        time.sleep(0.1)


FAULTS = {
    "no XML": listings.answering(b"<html><p>index</html>"),
    "cut XML": listings.answering(listings.multistatus(BASE)[:-10]),
    "entities": listings.answering(ENTITIES),
    "deep": listings.answering(b"<a>" * 10_000),
    "a long tag": listings.answering(b"<multistatus " + b"x" * 2_000_000),
    "a file": listings.answering(listings.multistatus(listings.response("/d", 5))),
    "nothing": listings.answering(b""),
    "without end": listings.of_lists(endless),
    "trickling": listings.of_lists(trickling),
    "500": listings.of_lists(faulty.status(500)),
    "403": listings.of_lists(faulty.status(403)),
    "404": listings.of_lists(faulty.status(404)),
    "cut": listings.of_lists(lambda exchange: (exchange.head(207, {"Content-Length": 500}), exchange.raw(b"<a>"), exchange.end())),
    "reset": listings.of_lists(lambda exchange: exchange.reset()),
    "silent": listings.of_lists(lambda exchange: exchange.wait()),
    "no HTTP": listings.of_lists(faulty.no_http),
    "endless headers": listings.of_lists(faulty.endless_headers),
}


def test_each_fault_ends_in_an_error_in_time_and_passes(server):
    """One mount: while the list fails, an open file is read on; then everything is there again."""
    with mounted_from(server) as m, open(os.path.join(m.path, "big.bin"), "rb") as big:
        for number, (name, rule) in enumerate(FAULTS.items()):
            server.rule = rule
            begun = time.monotonic()
            told = remote_files.names(m.path, TIMEOUT)
            assert told in ("EIO", "ETIMEDOUT", "EACCES", "ENOENT", "EINVAL", "ENOTDIR"), f"{name}: {told}"
            assert time.monotonic() - begun < TIMEOUT + remote_files.SLOW, name
            big.seek(number * 100_000)
            assert big.read(1000) == BIG[number * 100_000 :][:1000], name
            server.rule = listings.dav
            assert set(remote_files.names(m.path, TIMEOUT).decode().split("\n")) == {*TOP, ""}, name
        errors = m.errors()
        assert "has a document type" in errors and "status 500" in errors and "too slowly" in errors


def test_a_mount_of_a_server_that_lists_wrong_fails_with_a_line(server):
    for name in ("no XML", "entities", "500", "403", "404", "silent", "a file"):
        server.rule = FAULTS[name]
        status, told, seconds = remote_files.failure("-o", f"timeout={TIMEOUT}", server.url("d/"), limit=TIMEOUT + 2 * remote_files.SLOW)
        assert status == 1 and told.startswith(f"tfilefs: {server.url('d/')}: ") and told.count("\n") == 1, name
        assert seconds < TIMEOUT + remote_files.SLOW, name


def test_names_that_lead_elsewhere_are_left_out_and_told_of_once(server):
    odd = ["/d/../etc/passwd", "/d/%2e%2e", "/d/a%2Fb", "/d/sub/deep", "/other/f", "/d/z%00", "/d/" + "n" * 300]
    xml = listings.multistatus(BASE, listings.response("/d/good.txt", 4), *(listings.response(href, 1) for href in odd))
    with mounted_from(server) as m:
        server.rule = listings.answering(xml)
        for _ in range(3):
            assert os.listdir(m.path) == ["good.txt"]
        lines = [line for line in m.errors().splitlines() if "is left out" in line]
        assert len(lines) == len(odd) and "\x00" not in m.errors()


def test_a_list_of_many_names(server):
    """Of 20,000 names each is there; of more than are taken, none."""
    def many(count):
        return listings.answering(listings.multistatus(BASE, *(f"<response><href>/d/f{i}</href></response>" for i in range(count))))
    with mounted_from(server) as m:
        server.rule = many(20_000)
        assert len(os.listdir(m.path)) == 20_000
        server.rule = many(300_100)
        assert remote_files.names(m.path, 20) == "EIO" and "more than 300000 names" in m.errors()


def test_an_s3_list_without_end_is_given_up(server):
    same = listings.s3_result("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>")
    environment = dict(remote_files.environment(), AWS_ENDPOINT_URL=server.url(""))
    for body in (lambda: same, lambda: same.replace(b">t<", b">%d<" % random.randrange(10**9))):
        server.rule = lambda exchange: listings.send_xml(exchange, body(), 200)
        done = subprocess.run([mounted.program(), "ls", "-o", f"timeout={TIMEOUT}", "s3://bucket/"], env=environment,
                              capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert "repeats page" in done.stderr or "pages" in done.stderr or "too slowly" in done.stderr


def test_an_xrootd_server_that_is_silent(content):
    with xrootd_server.XrootdServer() as server:
        write_tree(server.path(""), files_of(content))
        with mounted.Mounted(server.url(""), (f"timeout={TIMEOUT}", "recheck=0")) as m:
            mounted.stop_threads(server.process.pid)
            begun = time.monotonic()
            assert remote_files.names(m.path, TIMEOUT) in ("EIO", "ETIMEDOUT")
            assert time.monotonic() - begun < TIMEOUT + remote_files.SLOW
            server.process.send_signal(signal.SIGCONT)
            wanted = "\n".join([*sorted(TOP), ""]).encode()
            assert remote_files.becomes(wanted, lambda: remote_files.names(m.path, TIMEOUT), 10) == wanted


def test_a_listing_that_hangs_can_be_interrupted(server):
    with mounted.Mounted(server.url("d/"), ("timeout=60", "recheck=0")) as m:
        server.rule = listings.of_lists(lambda exchange: exchange.wait())
        server.forget_requests()
        process = subprocess.Popen(["ls", m.path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mounted.wait_until(lambda: server.requests)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert process.wait(10) != 0 and time.monotonic() - begun < 5
        begun = time.monotonic()
    assert time.monotonic() - begun < 5 + remote_files.SLOW  # the unmount


def test_an_opening_that_is_told_to_wait_does_not_hold_up_the_end(server):
    """Retry-After of an hour: the opening waits for the timeout."""
    with mounted.Mounted(server.url("d/"), ("timeout=60", "recheck=0")) as m:
        server.rule = faulty.first_of(listings.of_lists(listings.dav), faulty.status(429, retry_after=3600))
        server.forget_requests()
        process = subprocess.Popen(["ls", os.path.join(m.path, "run1.root")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mounted.wait_until(lambda: any(request.method == "GET" for request in server.requests))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) != 0
        begun = time.monotonic()
    assert time.monotonic() - begun < 5 + remote_files.SLOW


def test_changes_are_seen_when_the_list_is_too_old(server, content):
    with mounted.Mounted(server.url("d/"), ("recheck=1",)) as m:
        assert "new.root" not in os.listdir(m.path)
        server.put("/d/new.root", content)
        server.put("/d/notes.txt", b"other notes, and longer\n", modified=1_700_000_100)
        del server.files["/d/run1.root"]
        mounted.wait_until(lambda: "new.root" in os.listdir(m.path))
        assert remote_files.read(os.path.join(m.path, "new.root", COLUMN), 20) == VALUES
        assert remote_files.becomes(b"other notes, and longer\n", lambda: remote_files.read(os.path.join(m.path, "notes.txt"), 20), 5)
        mounted.wait_until(lambda: not os.path.exists(os.path.join(m.path, "run1.root")))


def test_a_query_string_is_kept(server):
    def rule(exchange):
        if not exchange.request.path.endswith("?authz=x%2Fy"):
            return faulty.status(403)(exchange)
        return listings.dav(exchange)
    server.rule = rule
    with mounted.Mounted(server.url("d/?authz=x%2Fy"), ("timeout=5",)) as m:
        assert remote_files.read(os.path.join(m.path, "sub", "c.root", COLUMN), 20) == VALUES
    with mounted.Mounted(server.url("d/run?.root?authz=x%2Fy"), ("timeout=5",)) as m:
        assert sorted(os.listdir(m.path)) == ["run1.root", "run2.root"]


def test_a_file_that_is_no_root_file_is_refused_at_once(place):
    begun = time.monotonic()
    done = place.run("ls", place.url + "notes.txt")
    assert done.returncode == 1 and "not a ROOT file" in done.stderr and done.stderr.count("\n") == 1
    assert time.monotonic() - begun < remote_files.SLOW


def test_a_url_without_a_slash_may_be_a_directory(place):
    with mounted.Mounted(place.url.removesuffix("/") + "/sub", ("timeout=20",), environment=place.environment) as m:
        assert sorted(os.listdir(m.path)) == ["c.root", "deep"]
