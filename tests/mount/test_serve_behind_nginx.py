# SPDX-License-Identifier: Apache-2.0
"""`tfilefs serve` behind nginx with TLS, with the lines of docs/serve.md."""

import base64
import http.client
import os
import re
import signal
import ssl
import subprocess

import numpy as np
import pytest
import uproot

import http_server

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "serve.md")
TOKEN = "0123456789abcdef"
NAME = "localhost"  # of the certificate


def lines_of_the_page(**named):
    """The block for nginx, with names of the test in place of its own."""
    with open(PAGE, encoding="utf-8") as page:
        [block] = re.findall(r"^```nginx\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)
    for own, other in (("443", named["listen"]), ("data.example.org;", NAME + ";"), ("/etc/ssl/data.example.org.pem", named["certificate"]),
                       ("/etc/ssl/data.example.org.key", named["key"]), ("/run/tfilefs/data.sock", named["path"])):
        assert own in block, own
        block = block.replace(own, other)
    return block


class Proxy(http_server.Nginx):
    def __init__(self, root, certificate, path):
        super().__init__(root, certificate)
        self._path = path

    def _server(self):
        return lines_of_the_page(listen=f"{self.address}:{self.port}", certificate=self.certificate.certificate, key=self.certificate.key,
                                 path=self._path)


@pytest.fixture
def proxied(program, tmp_path):
    """ask(path, method, **headers) by TLS: the status, the headers, the bytes."""
    with uproot.recreate(tmp_path / "numbers.root") as file:
        file["T"] = {"x": np.arange(100_000, dtype="f4")}
    (tmp_path / "token").write_text(TOKEN + "\n")
    path = str(tmp_path / "data.sock")
    server = subprocess.Popen([program, "serve", str(tmp_path / "numbers.root"), "--listen", "unix:" + path, "--host", NAME, "--token-file",
                               str(tmp_path / "token")], stdout=subprocess.PIPE)
    assert server.stdout.readline().startswith(b"http+unix://")
    (tmp_path / "certificates").mkdir()
    certificate = http_server.make_certificate(tmp_path / "certificates")
    trusting = ssl.create_default_context(cafile=certificate.authority)
    try:
        with Proxy(tmp_path, certificate, path) as proxy:
            def ask(path, method="GET", **headers):
                connection = http.client.HTTPSConnection(NAME, proxy.port, context=trusting, timeout=30)
                basic = base64.b64encode(f"any:{TOKEN}".encode()).decode()
                connection.request(method, path, headers={"Authorization": "Basic " + basic} | headers)
                response = connection.getresponse()
                return response.status, response.headers, response.read()

            yield ask
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


def test_files_listings_and_webdav_come_through_a_proxy(proxied):
    expected = np.arange(100_000, dtype="f4").tobytes()
    assert proxied("/T/x.f4")[::2] == (200, expected)
    status, headers, content = proxied("/T/x.f4", Range="bytes=4-399999")
    assert (status, content) == (206, expected[4:]) and headers["ETag"]
    assert proxied("/T/", Accept="application/json")[0] == 200
    assert proxied("/T/", "PROPFIND", Depth="1")[0] == 207
    assert proxied("/T/x.f4", Authorization="")[0] == 401
    assert proxied("/T/x.f4", Host="evil.example")[0] == 421
