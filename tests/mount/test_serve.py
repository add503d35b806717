# SPDX-License-Identifier: Apache-2.0
"""`tfilefs serve`: what a mount shows, by HTTP."""

import base64
import contextlib
import email
import fcntl
import html.parser
import http.client
import io
import json
import os
import random
import select
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import numpy as np
import pytest
import uproot

ENTRIES = 200_000


class Served:
    """A server of the program. Its first line of output is a URL with the token."""

    def __init__(self, program, source, *arguments):
        self.process = subprocess.Popen([program, "serve", source, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = self.process.stdout.readline().strip()
        assert "/?token=" in url, self.process.communicate()
        self.origin, self.token = url.split("/?token=")
        self.address = urllib.parse.urlsplit(self.origin).netloc

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(30) == 0

    def connection(self):
        if not self.origin.startswith("http+unix:"):
            return http.client.HTTPConnection(self.address, timeout=30)
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(urllib.parse.unquote(self.address))
        return connection

    def ask(self, path, method="GET", connection=None, body=None, **headers):
        """The response to a request with the token, read whole: `.content`."""
        headers = {"Authorization": f"Bearer {self.token}"} | {name.replace("_", "-"): value for name, value in headers.items()}
        own = connection or self.connection()
        own.request(method, path, body=body, headers={name: value for name, value in headers.items() if value is not None})
        response = own.getresponse()
        response.content = response.read()
        if connection is None:
            own.close()
        return response

    def raw(self, data, wait=10):
        """What comes back for these bytes, until the server closes or waits."""
        host, port = self.address.split(":")
        with socket.create_connection((host, int(port)), timeout=wait) as plain:
            plain.sendall(data)
            plain.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while piece := plain.recv(65536):
                    answer += piece
            return answer


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "numbers.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("T", {"x": "f4", "n": "i8"})
        for first in range(0, ENTRIES, ENTRIES // 4):
            n = np.arange(first, first + ENTRIES // 4)
            file["T"].extend({"x": np.sqrt(n).astype("f4"), "n": n})
    return str(path)


@pytest.fixture(scope="module")
def served(program, source):
    with Served(program, source) as server:
        yield server


@pytest.fixture(scope="module")
def column(program, source):
    return subprocess.run([program, "cat", f"{source}/T/x.f4"], capture_output=True, check=True).stdout


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes)["href"])


# ---- files


def test_a_file_is_what_cat_writes(served, column):
    response = served.ask("/T/x.f4")
    assert (response.status, response.content == column) == (200, True)
    assert response.headers["Content-Length"] == str(len(column))
    assert response.headers["Accept-Ranges"] == "bytes"
    head = served.ask("/T/x.f4", "HEAD")
    assert (head.status, head.content) == (200, b"")
    for name in ("Content-Length", "ETag", "Last-Modified", "Content-Type"):
        assert head.headers[name] == response.headers[name]


def test_random_ranges_are_the_bytes_of_the_file(served, column):
    rng = random.Random(1)
    connection = served.connection()
    for _ in range(200):
        begin = rng.randrange(len(column))
        end = min(len(column), begin + rng.choice((1, 100, 4096, 300_000)))
        asked = rng.choice((f"{begin}-{end - 1}", f"{begin}-", f"-{len(column) - begin}"))
        end = end if asked == f"{begin}-{end - 1}" else len(column)
        response = served.ask("/T/x.f4", connection=connection, Range=f"bytes={asked}")
        assert response.status == 206
        assert response.headers["Content-Range"] == f"bytes {begin}-{end - 1}/{len(column)}"
        assert response.content == column[begin:end], asked
    connection.close()


def test_several_ranges_come_as_parts(served, column):
    asked = [(0, 3), (100_000, 100_999), (len(column) - 5, len(column) - 1)]
    response = served.ask("/T/x.f4", Range="bytes=" + ", ".join(f"{a}-{b}" for a, b in asked))
    assert response.status == 206
    assert len(response.content) == int(response.headers["Content-Length"])
    message = email.message_from_bytes(b"Content-Type: " + response.headers["Content-Type"].encode() + b"\r\n\r\n" + response.content)
    parts = message.get_payload()
    assert len(parts) == len(asked)
    for part, (first, last) in zip(parts, asked):
        assert part["Content-Range"] == f"bytes {first}-{last}/{len(column)}"
        assert part.get_payload(decode=True) == column[first:last + 1]
    # More than the file has: all of it.
    assert served.ask("/T/x.f4", Range="bytes=0-,0-").status == 200


def test_ranges_behind_the_end(served, column):
    response = served.ask("/T/x.f4", Range=f"bytes={len(column)}-")
    assert (response.status, response.headers["Content-Range"]) == (416, f"bytes */{len(column)}")


def test_what_a_client_has_is_not_sent_again(served):
    first = served.ask("/T/x.f4", "HEAD")
    tag, date = first.headers["ETag"], first.headers["Last-Modified"]
    unchanged = served.ask("/T/x.f4", If_None_Match=tag)
    assert (unchanged.status, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)
    assert served.ask("/T/x.f4", If_Modified_Since=date).status == 304
    assert served.ask("/T/x.f4", If_None_Match='"other"', Range="bytes=0-3").status == 206
    assert served.ask("/T/x.f4", If_Match='"other"').status == 412
    assert served.ask("/T/x.f4", Range="bytes=0-3", If_Range=tag).status == 206
    assert served.ask("/T/x.f4", Range="bytes=0-3", If_Range='"other"').status == 200


def test_a_changed_file_has_another_tag(program, tmp_path):
    path = tmp_path / "changing.root"

    def write(number):
        with uproot.recreate(tmp_path / "new.root") as file:
            file["T"] = {"x": np.full(1000, number, dtype="i4")}
        os.replace(tmp_path / "new.root", path)

    write(1)
    with Served(program, str(path)) as server:
        before = server.ask("/T/x.i4")
        write(2)
        deadline = time.monotonic() + 10
        while (after := server.ask("/T/x.i4", If_None_Match=before.headers["ETag"])).status == 304:
            assert time.monotonic() < deadline
        assert after.status == 200
        assert np.frombuffer(after.content, "i4").tolist() == [2] * 1000
        assert server.ask("/T/x.i4", Range="bytes=0-3", If_Range=before.headers["ETag"]).status == 200


def test_control_files_are_made_anew(served):
    response = served.ask("/.tfilefs/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert b"\ntfilefs_budget_bytes" in response.content
    assert response.headers["Cache-Control"] == "no-store" and response.headers["ETag"] is None
    stats = served.ask("/.tfilefs/stats.json")
    assert json.loads(stats.content)
    assert len(stats.content) == int(stats.headers["Content-Length"])


def test_a_connection_serves_many_requests(served):
    connection = served.connection()
    for path in ("/", "/T/", "/missing", "/T/x.f4", "/.tfilefs/page/listing.css", "/T/n.i8"):
        served.ask(path, connection=connection)
        port = connection.sock.getsockname()[1]
    assert served.ask("/", connection=connection).status == 200
    assert connection.sock.getsockname()[1] == port
    connection.close()


# ---- directories


def test_listings(served):
    page = served.ask("/T/", Accept="text/html")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert {"x.f4", "n.i8"} <= set(Links(page.content.decode()).found)
    for listing in (served.ask("/T/?json"), served.ask("/T", Accept="application/json")):
        entries = {each["name"]: each for each in json.loads(listing.content)["entries"]}
        assert entries["x.f4"]["size"] == 4 * ENTRIES
        assert entries["x.f4"]["type"] == "file"
    moved = served.ask("/T")
    assert (moved.status, moved.headers["Location"]) == (301, "/T/")


def test_attributes_with_those_that_are_not_listed(served, source):
    def attributes(path, which):
        return json.loads(served.ask(f"{path}?attributes{which}").content)["attributes"]

    with uproot.open(source) as file:
        stored = {name: str(branch.compressed_bytes) for name, branch in file["T"].items()}
    assert attributes("/T/x.f4", "=all") == attributes("/T/x.f4", "") | {"stored": stored["x"], "type": "float32"}
    assert attributes("/T", "=all") == attributes("/T", "") | {"entries": str(ENTRIES), "stored": str(sum(map(int, stored.values())))}
    assert "stored" not in attributes("/T", "")


def test_webdav(served):
    dav = "{DAV:}"
    assert served.ask("/", "OPTIONS").headers["DAV"] == "1"
    response = served.ask("/T/", "PROPFIND", Depth="1", body="<?xml version='1.0'?><propfind xmlns='DAV:'><allprop/></propfind>")
    assert response.status == 207
    tree = xml.etree.ElementTree.fromstring(response.content)
    sizes = {each.findtext(f"{dav}href"): each.findtext(f".//{dav}getcontentlength") for each in tree}
    assert sizes["/T/x.f4"] == str(4 * ENTRIES)
    assert sizes["/T/"] is None
    assert tree[0].find(f".//{dav}collection") is not None
    itself = xml.etree.ElementTree.fromstring(served.ask("/T/x.f4", "PROPFIND", Depth="0").content)
    assert [each.findtext(f"{dav}href") for each in itself] == ["/T/x.f4"]
    assert served.ask("/", "PROPFIND").status == 403
    assert served.ask("/missing", "PROPFIND", Depth="0").status == 404


def test_a_directory_of_this_machine(program, tmp_path, source):
    outside = tmp_path / "outside"
    outside.write_text("secret")
    top = tmp_path / "top"
    (top / "below").mkdir(parents=True)
    strange = "a<script>&\"' %41;?#é"
    (top / strange).write_text("strange")
    (top / "below" / "text.txt").write_text("text")
    (top / "inside").symlink_to("below/../below")
    (top / " blank ").mkdir()
    (top / " blank " / "text.txt").write_text("blank")
    (top / "to blank").symlink_to(" blank ")
    (top / "absolute").symlink_to(outside)
    (top / "relative").symlink_to("../outside")
    (top / "loop").symlink_to("loop")
    os.symlink(source, top / "n.root")
    os.mkfifo(top / "pipe")
    with Served(program, str(top)) as server:
        page = server.ask("/").content.decode()
        assert "<script" not in page
        link = next(each for each in Links(page).found if "script" in each)
        assert server.ask("/" + link).content == b"strange"
        assert server.ask("/inside/text.txt").content == b"text"
        assert server.ask("/to%20blank/text.txt").content == b"blank"
        assert server.ask("/inside", Accept="application/json").status == 200
        for name in ("absolute", "relative", "loop"):
            assert server.ask("/" + name).status == 403, name
        assert server.ask("/pipe").status == 403
        for path in ("/../outside", "/%2e%2e/outside", "/below/../../outside", "/..%2foutside", "//..//outside", "/a%00b"):
            assert server.ask(path).status == 400, path


# ---- who is let in


def test_nothing_without_the_token(served):
    for method in ("GET", "HEAD", "OPTIONS", "PROPFIND", "PUT", "DELETE", "POST"):
        for path in ("/", "/T/x.f4", "/missing", "/.tfilefs/page/listing.css", "/?token=", "/?token=" + "A" * 32, "/../x"):
            response = served.ask(path, method, Authorization=None)
            assert response.status == 401, (method, path)
    assert "Basic" in served.ask("/", Authorization=None).headers["WWW-Authenticate"]


def test_the_token_is_taken_in_four_ways(served):
    basic = base64.b64encode(f"anybody:{served.token}".encode()).decode()
    port = served.address.split(":")[1]
    assert served.ask("/T/n.i8", Authorization="Basic " + basic).status == 200
    assert served.ask("/T/n.i8?token=" + served.token, Authorization=None).status == 200
    assert served.ask("/T/n.i8", Authorization=None, Cookie=f"tfilefs-{port}={served.token}").status == 200
    assert served.ask("/T/n.i8", Authorization=None, Cookie=f"tfilefs-1={served.token}").status == 401


def test_a_browser_gets_a_cookie(served):
    response = served.ask("/T/?token=" + served.token, Authorization=None, Accept="text/html,*/*",
                          **{"User-Agent": "Mozilla/5.0"})
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert served.token.encode() not in response.content
    assert served.ask("/T/", Authorization=None, Cookie=cookie.split(";")[0]).status == 200


def test_other_names_of_the_server(served, program, source):
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""):
        assert served.ask("/", Host=host).status in (400, 421), host
    assert served.ask("/", Host="localhost").status == 200
    with Served(program, source, "--host", "data.example", "--host", "other.example") as server:
        for host, status in (("data.example", 200), ("other.example:443", 200), ("evil.example", 421)):
            assert server.ask("/", Host=host).status == status


def test_two_names_of_the_server(served):
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert served.raw(head).startswith(b"HTTP/1.1 400 ")


def test_pages_of_other_sites(served):
    assert served.ask("/", Origin="http://evil.example").status == 403
    assert served.ask("/", Origin=served.origin).status == 200
    response = served.ask("/T/x.f4", "HEAD")
    assert response.headers["Access-Control-Allow-Origin"] is None
    assert "sandbox" in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"


def test_nothing_can_be_written(served):
    for method in ("PUT", "POST", "DELETE", "PATCH", "MKCOL", "MOVE", "COPY", "LOCK", "PROPPATCH", "TRACE"):
        response = served.ask("/T/x.f4", method, body=b"x" * 1000)
        assert response.status == 405, method
        assert "PROPFIND" in response.headers["Allow"]


def test_a_token_of_a_file(program, source, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef-_\n")
    with Served(program, source, "--token-file", str(token)) as server:
        assert server.token == "0123456789abcdef-_"
        assert server.ask("/").status == 200
    token.write_text("short\n")
    done = subprocess.run([program, "serve", source, "--token-file", str(token)], capture_output=True, text=True)
    assert done.returncode == 1 and "16 to 256" in done.stderr


# ---- where it listens


def test_a_socket_of_the_file_system(program, source, tmp_path, column):
    path = str(tmp_path / "socket")
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.close()
    with Served(program, source, "--listen", "unix:" + path) as server:
        assert server.origin == "http+unix://" + urllib.parse.quote(path, safe="")
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert server.ask("/T/x.f4").content == column
        second = subprocess.run([program, "serve", source, "--listen", "unix:" + path], capture_output=True, text=True)
        assert second.returncode == 1 and "another server" in second.stderr
    assert not os.path.exists(path)


def as_memory(connection, token, path="/T/x.f4"):
    """The descriptor that comes in front of a response, and the response."""
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "Host": "localhost", "Tfilefs-Memory": "sealed"})
    if connection.sock.recv(1, socket.MSG_PEEK) == b"H":
        return None, connection.getresponse()
    data, descriptors, _, _ = socket.recv_fds(connection.sock, 1, 4)
    assert data == b"M"
    return descriptors, connection.getresponse()


def test_a_file_is_passed_as_memory(program, source, served, tmp_path, column):
    path = str(tmp_path / "socket")
    with Served(program, source, "--listen", "unix:" + path) as server:
        connection = server.connection()
        for _ in range(3):
            [memory], response = as_memory(connection, server.token)
            assert (response.status, response.read(), int(response.headers["Tfilefs-Memory"])) == (200, b"", len(column))
            assert os.pread(memory, len(column) + 1, 0) == column and response.headers["ETag"]
            seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            assert fcntl.fcntl(memory, fcntl.F_GET_SEALS) == seals
            with pytest.raises(PermissionError):
                os.ftruncate(memory, 0)
            os.close(memory)
        for missing, status in (("/T/missing", 404), ("/T", 301)):
            nothing, response = as_memory(connection, server.token, missing)
            assert (nothing, response.status) == (None, status)
            response.read()
        nothing, response = as_memory(connection, "wrong")
        assert (nothing, response.status) == (None, 401)
        connection.close()
    connection = served.connection()
    connection.connect()
    nothing, response = as_memory(connection, served.token)
    assert nothing is None and response.read() == column, "by the network, bytes come as bytes"
    connection.close()


@pytest.mark.parametrize("memory", ("16M", "512M"))
def test_a_long_file_is_passed_as_memory_in_pieces(program, tmp_path, memory):
    """Its pieces are read together, and come in any order."""
    values = np.random.default_rng(1).integers(0, 1000, 1_300_001).astype("i8")
    with uproot.recreate(tmp_path / "long.root", compression=uproot.ZLIB(1)) as file:
        file.mktree("T", {"n": "i8"})
        for part in np.array_split(values, 30):
            file["T"].extend({"n": part})
    with Served(program, str(tmp_path / "long.root"), "--listen", f"unix:{tmp_path}/socket", "-o", f"memory={memory}") as server:
        connection = server.connection()
        for path, content in (("/T/n.i8", values.tobytes()), ("/T.csv", server.ask("/T.csv").content)):
            [got], response = as_memory(connection, server.token, path)
            assert (response.read(), int(response.headers["Tfilefs-Memory"])) == (b"", len(content))
            assert os.pread(got, len(content) + 1, 0) == content
            os.close(got)
        connection.close()


def test_damage_in_a_piece_is_an_error(program, tmp_path):
    """Also if others are read at the same time."""
    with uproot.recreate(tmp_path / "long.root", compression=uproot.ZLIB(1)) as file:
        file.mktree("T", {"n": "i8"})
        for part in np.array_split(np.random.default_rng(1).integers(0, 1000, 2_000_000), 20):
            file["T"].extend({"n": part})
    with uproot.open(tmp_path / "long.root") as file:
        seek = file["T"]["n"].member("fBasketSeek")[11]
    with open(tmp_path / "long.root", "r+b") as file:
        file.seek(int(seek) + 200)
        file.write(b"damage" * 20)
    with Served(program, str(tmp_path / "long.root"), "--listen", f"unix:{tmp_path}/socket") as server:
        connection = server.connection()
        for _ in range(3):
            nothing, response = as_memory(connection, server.token, "/T/n.i8")
            assert (nothing, response.status) == (None, 500)
            response.read()
        connection.close()


def test_what_cannot_be_served(program, source, served, tmp_path):
    def failure(*arguments):
        done = subprocess.run([program, "serve", *arguments], capture_output=True, text=True, timeout=30)
        assert done.returncode in (1, 2) and not done.stdout
        return done.stderr

    assert "in use" in failure(source, "--listen", served.address)
    assert "ADDR:PORT" in failure(source, "--listen", "8080")
    assert "only read" in failure(source, "-o", "rw")
    assert "chain" in failure(source, source)
    assert "No such file" in failure(str(tmp_path / "missing.root"))
    assert "--timeout: 0.5: not between 1 and 86400 seconds" in failure(source, "--timeout", "0.5")


def test_a_url_that_cannot_be_written_ends_it(program, source):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "serve", source], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (1, "tfilefs: cannot write the output: No space left on device\n")


# ---- bad clients


def test_garbage(served):
    rng = random.Random(2)
    head = f"Host: localhost\r\nAuthorization: Bearer {served.token}\r\n".encode()
    cases = [b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n" + head + b"\r\n",
             b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + head + b"\r\n", b"GET / HTTP/1.1\r\n" + head + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
             b"GET / HTTP/1.1\r\n" + head + b"Content-Length: 99999999999999999999\r\n\r\n",
             b"PROPFIND / HTTP/1.1\r\n" + head + b"Depth: 1\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000,
             b"GET / HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", bytes(range(256)) * 20]
    whole = b"GET /T/x.f4 HTTP/1.1\r\n" + head + b"Range: bytes=0-3\r\n\r\n"
    for _ in range(100):
        broken = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        cases.append(bytes(broken))
    for case in cases:
        with contextlib.suppress(OSError):  # closed, or still waited for
            served.raw(case, wait=0.5)
    assert served.ask("/T/x.f4", "HEAD").status == 200


def test_slow_clients_end(program, source):
    with Served(program, source, "--timeout", "2") as server:
        host, port = server.address.split(":")
        slow = socket.create_connection((host, int(port)))
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for byte in b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000:
                slow.sendall(bytes([byte]))
                if select.select([slow], [], [], 0.1)[0] and not slow.recv(1000):
                    break
        assert 1 < time.monotonic() - began < 10
        silent = socket.create_connection((host, int(port)), timeout=20)
        assert silent.recv(1000) == b""


def test_more_connections_than_are_served(program, source):
    with Served(program, source, "--timeout", "2") as server:
        host, port = server.address.split(":")
        idle = [socket.create_connection((host, int(port))) for _ in range(600)]
        assert server.ask("/T/x.f4", "HEAD").status == 200
        for each in idle:
            each.close()


def test_readers_that_leave(served, column):
    for _ in range(30):
        connection = served.connection()
        connection.request("GET", "/T/x.f4", headers={"Authorization": f"Bearer {served.token}"})
        connection.getresponse().read(10)
        connection.close()
    assert served.ask("/T/x.f4").content == column


def test_it_ends_while_it_serves(program, source):
    with Served(program, source) as server:
        connection = server.connection()
        connection.request("GET", "/T.csv", headers={"Authorization": f"Bearer {server.token}"})
        connection.getresponse().read(100)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0


def test_many_readers_with_little_memory(program, source, column):
    with Served(program, source, "-o", "memory=16M") as server:
        wrong = []

        def read(seed):
            rng = random.Random(seed)
            connection = server.connection()
            for _ in range(20):
                begin = rng.randrange(len(column))
                got = server.ask("/T/x.f4", connection=connection, Range=f"bytes={begin}-{begin + 200_000}").content
                if got != column[begin:begin + 200_001]:
                    wrong.append(begin)

        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_client_that_sends_nothing_more_gets_its_answer(program, source):
    """As `nc -N` does."""
    with Served(program, source) as server:
        for path in ("/T.csv", "/T/.draw=sqrt(x)*n%5E0.5/plot.svg"):
            answer = server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode(), wait=60)
            head, _, body = answer.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"").partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            assert f"Content-Length: {len(body)}\r\n".encode() in head + b"\r\n"


def test_it_gets_its_answer_also_next_to_clients_that_were_there_before(program, source):
    """Several requests in one, too; the connections of a thread are told of each other's ends."""
    with Served(program, source) as server, contextlib.ExitStack() as held:
        for _ in range(16):
            held.enter_context(contextlib.closing(server.connection())).connect()
        request = f"GET /T/x.f4 HTTP/1.{{}}\r\nHost: localhost\r\nRange: bytes=0-9\r\nAuthorization: Bearer {server.token}\r\n\r\n"
        for version, count in ((0, 1), (1, 1), (1, 7)):
            for _ in range(16):
                last = request.format(version).replace("Range", "Connection: close\r\nRange")
                answer = server.raw((request.format(version) * (count - 1) + last).encode())
                assert answer.count(b".1 206 ") == count, answer


def test_a_connection_whose_client_sends_nothing_more_is_closed_soon(served):
    """With all requests answered, or in the middle of one."""
    request = f"GET /T/x.f4 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-9\r\nAuthorization: Bearer {served.token}\r\n"
    for sent, answers in ((request + "\r\n", 1), ((request + "\r\n") * 7, 7), (request + "Content-Length: 1000\r\n\r\nsome", 0), (request, 0)):
        for _ in range(5):
            began = time.monotonic()
            assert served.raw(sent.encode(), wait=25).count(b".1 206 ") == answers
            assert time.monotonic() - began < 20


def test_damage_at_the_begin_is_an_answer(program, tmp_path):
    path = tmp_path / "damaged.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("T", {"x": "f8"})
        file["T"].extend({"x": np.sqrt(np.arange(10_000))})
    with uproot.open(path) as file:
        branch = file["T"]["x"]
        seek, size = int(branch.member("fBasketSeek")[0]), int(branch.member("fBasketBytes")[0])
    with open(path, "r+b") as damaged:
        damaged.seek(seek + size // 2)
        damaged.write(b"\xff" * 50)
    os.utime(path, (10 ** 9, 10 ** 9))  # not in the middle of a save
    with Served(program, str(path)) as server:
        for name in ("T/x.f8", "T/x.f8.npy", "T.csv", "T.parquet", "T.arrow"):
            answer = server.ask(f"/{name}")
            assert (answer.status, b"x" in answer.content) == (500, True), (name, answer.content[:100])
        assert server.ask("/T/x.f8", Range="bytes=0-3,8-11").status == 500
        assert server.ask("/T/x.f8", "HEAD").status == 200
        assert server.ask("/T/x.f8", Range="bytes=80000-").status == 416


def test_long_listings_take_no_memory_of_their_own(program, tmp_path):
    """Of clients that read nothing. A listing that was held took 4 MB of each."""
    path = tmp_path / "wide.root"
    names = [f"a_column_with_a_rather_long_name_{number:05}" for number in range(4000)]
    with uproot.recreate(path) as file:
        file["T"] = {name: np.arange(2.) for name in names}
    with Served(program, str(path), "-o", "memory=16M") as server:
        answer = server.ask("/T/", "PROPFIND", Depth="1")
        assert answer.status == 207 and answer.headers["Transfer-Encoding"] == "chunked"
        found = xml.etree.ElementTree.fromstring(answer.content).findall("{DAV:}response/{DAV:}href")
        assert {f"/T/{name}.f8" for name in names} <= {each.text for each in found}
        entries = [each["name"] for each in json.loads(server.ask("/T/?json").content)["entries"]]
        assert entries == sorted(entries) and {f"{name}.f8" for name in names} <= set(entries)
        assert len(Links(server.ask("/T/", Accept="text/html").content.decode()).found) >= len(names)

        def resident():
            with open(f"/proc/{server.process.pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        host, port = server.address.split(":")
        before, clients = resident(), []
        for _ in range(100):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            client.sendall(f"PROPFIND /T/ HTTP/1.1\r\nHost: localhost\r\nDepth: 1\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
            clients.append(client)
        time.sleep(3)
        assert resident() - before < 100 * 400_000
        assert server.ask("/T/", "PROPFIND", Depth="1").content == answer.content
        for client in clients:
            client.close()


def test_requests_that_end_in_two_ways_are_refused(served):
    head = f"GET /T/x.f4 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n".encode()
    for more in (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 b"Transfer-Encoding: x\r\n\r\n", b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                 b"Content-Length: -1\r\n\r\n", b"Content-Length: +5\r\n\r\nabcde",
                 b"Content-Length : 5\r\n\r\nabcde", b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n"):
        answer = served.raw(head + more)
        assert answer.startswith(b"HTTP/1.1 400 ") and b"Connection: close" in answer, (more, answer)
    began = time.monotonic()
    answer = served.raw(head.replace(b"/T/x.f4", b"/T/x.f4?" + b"a&" * 10_000) + b"\r\n", wait=20)
    assert answer.startswith(b"HTTP/1.1 414 ") and time.monotonic() - began < 10


def test_a_request_that_expects_to_be_told_to_go_on(served):
    """In front of others, which came with it."""
    head = f" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\nRange: bytes=0-3\r\n".encode()
    one = b"GET /T/x.f4" + head
    host, port = served.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as plain:
        plain.sendall(one + b"Expect: 100-continue\r\n\r\n" + (one + b"X-Y: " + b"z" * 8000 + b"\r\n\r\n") * 10 + one + b"Connection: close\r\n\r\n")
        answer = b""
        while piece := plain.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 206 ") and b"Connection: close" in answer and answer.endswith(b"\r\n\r\n" + bytes(4))


# ---- programs


def test_another_tfilefs_reads_what_is_served(program, tmp_path, source, column):
    """A ROOT file beside others, which is served as a directory, is read by its raw bytes where those are a plain file."""
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "column.f4").write_bytes(column)
    with Served(program, str(plain)) as server:
        url = f"{server.origin}/column.f4?token={server.token}"
        assert urllib.request.urlopen(url).read() == column
        done = subprocess.run(["curl", "-s", "-r", "4-7", "-u", f"x:{server.token}", f"{server.origin}/column.f4"], capture_output=True, check=True)
        assert done.stdout == column[4:8]


def test_polars_and_pyarrow(served):
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    expected = np.arange(ENTRIES)
    table = served.ask("/T.parquet").content
    assert np.array_equal(pyarrow.parquet.read_table(io.BytesIO(table))["n"].to_numpy(), expected)
    arrow = served.ask("/T.arrow").content
    assert np.array_equal(pa.ipc.open_file(io.BytesIO(arrow)).read_all()["n"].to_numpy(), expected)
    frame = pl.read_parquet(f"{served.origin}/T.parquet?token={served.token}")
    assert np.array_equal(frame["n"].to_numpy(), expected)
