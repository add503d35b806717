# SPDX-License-Identifier: Apache-2.0
"""The servers and the long line that tests of remote files rest on."""

import http.client
import math
import os
import subprocess
import sys
import time

import pytest

import delayed_network
import faulty_server
import http_server
import mounted

CONTENT = bytes(range(256)) * 100

# Connects, sends a byte, waits for one; prints the milliseconds of both.
ASK = """
import socket, sys, time
begin = time.monotonic()
line = socket.create_connection((sys.argv[1], 9000), 5)
connected = time.monotonic()
line.sendall(b"?")
line.recv(1)
print((connected - begin) * 1000, (time.monotonic() - connected) * 1000)
"""
ANSWER = """
import socket, sys
listener = socket.create_server((sys.argv[1], 9000))
print("ready", flush=True)
while True:
    line, _ = listener.accept()
    line.recv(1)
    line.sendall(b"!")
"""


def get(server, headers=None, method="GET", path="/a"):
    line = http.client.HTTPConnection(server.address, server.port, timeout=5)
    line.request(method, path, headers=headers or {})
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer.status, dict(answer.getheaders()), body


def shortest_round_trips(network, enough):
    """Milliseconds to connect and to be answered: the least of some tries, since others may have the processors."""
    python = [sys.executable, "-c"]
    server = subprocess.Popen([*network.command("remote"), *python, ANSWER, network.remote_address], stdout=subprocess.PIPE)
    try:
        assert server.stdout.readline() == b"ready\n"
        shortest = [math.inf, math.inf]
        for _ in range(30):
            said = subprocess.run([*network.command("near"), *python, ASK, network.remote_address], capture_output=True, check=True)
            shortest = list(map(min, shortest, map(float, said.stdout.split())))
            if max(shortest) < enough:
                break
        return shortest
    finally:
        server.kill()
        server.communicate()


@pytest.mark.alone
def test_the_long_line_is_as_long_as_asked():
    """Two at once, which do not disturb each other."""
    with delayed_network.DelayedNetwork(60) as long, delayed_network.DelayedNetwork(5) as short:
        for network, wanted in ((long, 60), (short, 5)):
            at_most = 1.5 * wanted + 20  # neither twice as long nor that of the other, on a busy machine too
            for measured in shortest_round_trips(network, at_most):
                assert wanted <= measured < at_most


def test_no_namespace_is_left_by_a_test_that_is_killed():
    code = ("import delayed_network, os, signal\n"
            "with delayed_network.DelayedNetwork(1) as network:\n"
            "    print(network.near, flush=True)\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n")
    with delayed_network.DelayedNetwork(1):  # skips this test where there can be none
        pass
    here = os.path.dirname(delayed_network.__file__)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=here, text=True)
    name = said.stdout.strip()
    mounted.wait_until(lambda: not os.path.exists(f"/run/netns/{name}"), 5)
    assert name and not os.path.exists(f"/run/netns/{name}")


def test_nginx_tells_what_it_was_asked(tmp_path):
    (tmp_path / "a").write_bytes(CONTENT)
    for ranges, wanted in ((None, 206), (1, 200), (0, 200)):
        with http_server.Nginx(tmp_path, max_ranges=ranges) as server:
            status, _, body = get(server, {"Range": "bytes=0-9,100-109"})
            [logged] = server.requests()
            assert (status, logged.status, logged.range_count, logged.bytes) == (wanted, wanted, 2, len(body))
            server.forget_requests()
            assert server.requests() == []


def test_the_other_server_is_right_unless_it_is_told():
    with faulty_server.FaultyServer() as server:
        server.put("/a", CONTENT)
        status, headers, body = get(server)
        assert (status, body, headers["Content-Length"]) == (200, CONTENT, str(len(CONTENT)))
        assert get(server, {"Range": "bytes=5-9"})[0::2] == (206, CONTENT[5:10])
        assert get(server, {"Range": "bytes=-9"})[2] == CONTENT[-9:]
        several = get(server, {"Range": "bytes=5-9,-4"})
        assert several[1]["Content-Type"].startswith("multipart/byteranges") and CONTENT[5:10] in several[2]
        assert get(server, {"Range": "bytes=99999-"})[0] == 416
        assert get(server, {"If-Match": '"other"'})[0] == 412
        assert get(server, {"If-Match": headers["ETag"]})[0] == 200
        assert get(server, {"If-Unmodified-Since": headers["Last-Modified"]})[0] == 200
        assert get(server, method="HEAD")[2] == b""
        assert get(server, path="/none")[0] == 404
        server.rule = faulty_server.times(2, faulty_server.status(503))
        assert [get(server)[0] for _ in range(3)] == [503, 503, 200]
        server.rule = faulty_server.touching(100, 200, faulty_server.status(500))
        assert [get(server, {"Range": f"bytes={first}-{first + 9}"})[0] for first in (90, 95, 200)] == [206, 500, 206]


def test_waves_are_counted():
    with faulty_server.FaultyServer() as server:
        server.put("/a", CONTENT)
        server.rule = waves = faulty_server.Waves()
        code = f"import urllib.request as u\nfor _ in range(2): u.urlopen({server.url('a')!r}).read()"
        clients = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
        assert [client.wait(20) for client in clients] == [0, 0]
        assert sum(waves.sizes) == 4 and 2 <= waves.count <= 4
