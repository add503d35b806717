# SPDX-License-Identifier: Apache-2.0
"""nginx over a directory, and the certificates of servers in tests. (For a server that errs see faulty_server.py.)"""

import dataclasses
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

import mounted

CONFIGURATION = """
daemon off;
master_process off;
{user}
pid {work}/pid;
error_log {work}/error.log;
events {{ worker_connections 512; }}
http {{
  log_format requests escape=json '{{"connection": $connection, "method": "$request_method", "path": "$request_uri",
    "range": "$http_range", "status": $status, "bytes": $body_bytes_sent, "protocol": "$server_protocol",
    "time": $msec, "authorization": "$http_authorization"}}';
  access_log {work}/access.log requests;
  client_body_temp_path {work}/body;
  proxy_temp_path {work}/proxy;
  fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi;
  scgi_temp_path {work}/scgi;
  default_type application/octet-stream;
  tcp_nodelay on;
{server}
}}
"""
SERVER = """
  server {{
    listen {address}:{port}{tls};
    root "{root}";
    {settings}
  }}
"""


@dataclasses.dataclass(frozen=True)
class Certificate:
    """A server's key and certificate, and the authority that signed it: the file that a client has to trust."""

    authority: str
    certificate: str
    key: str

    def environment(self, **more):
        """Of a client that trusts this authority and no other."""
        return dict(os.environ, SSL_CERT_FILE=self.authority, CURL_CA_BUNDLE=self.authority, **more)


def _openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


def make_certificate(directory, *addresses, days=2):
    """For localhost, 127.0.0.1 and further addresses; written to the directory. days: that the server's holds; -1: it
    has expired."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    path = lambda name: os.path.join(directory, name)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    _openssl("req", "-x509", *curve, "-subj", "/CN=tests", "-days", "2", "-keyout", path("ca.key"), "-out", path("ca.pem"),
             "-addext", "keyUsage=critical,keyCertSign")
    _openssl("req", *curve, "-subj", "/CN=localhost", "-keyout", path("server.key"), "-out", path("server.csr"))
    names = ",".join(["DNS:localhost", *(f"IP:{address}" for address in ("127.0.0.1", *addresses))])
    with open(path("names"), "w") as file:
        file.write(f"subjectAltName={names}\n")
    _openssl("x509", "-req", "-in", path("server.csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial",
             "-days", str(days), "-extfile", path("names"), "-out", path("server.pem"))
    os.chmod(path("server.key"), 0o644)  # of no worth, and read by a server of another user
    return Certificate(path("ca.pem"), path("server.pem"), path("server.key"))


def free_port(address="127.0.0.1"):
    """A port that was free a moment ago. Whoever takes it tries another one if it is not any more."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


@dataclasses.dataclass
class Logged:
    """A request as nginx saw it. `connection` is equal for requests that came over one connection."""

    connection: int
    method: str
    path: str
    range: str
    status: int
    bytes: int  # of the body
    protocol: str
    time: float  # of the end of the answer, to a millisecond
    authorization: str

    @property
    def range_count(self):
        return self.range.count("-") if self.range else 0


class Nginx:
    """nginx over the directory `root`: `with Nginx(root) as server: server.url("a.root")`.

    certificate: TLS, with HTTP/2. max_ranges: how many ranges of a request are honoured (None: all that are asked).
    settings: further lines of its configuration. prefix: what the program is run by, such as DelayedNetwork.command("remote"), with `address` and `port` there."""

    def __init__(self, root, certificate=None, max_ranges=None, address="127.0.0.1", port=None, settings="", prefix=()):
        if not shutil.which("nginx"):
            pytest.skip("nginx is not installed")
        self.root, self.certificate, self.address = os.path.realpath(root), certificate, address
        self._prefix, self._fixed_port, self._settings = list(prefix), port, [settings]
        if max_ranges is not None:
            self._settings.append(f"max_ranges {max_ranges};")
        if certificate:
            self._settings += [f"ssl_certificate {certificate.certificate};", f"ssl_certificate_key {certificate.key};"]
        self._work = tempfile.mkdtemp(prefix="tfilefs-nginx-")
        self._process = None

    def __enter__(self):
        try:
            for _ in range(5):
                self.port = self._fixed_port or free_port(self.address)
                if self._start():
                    return self
            raise RuntimeError(f"nginx does not start:\n{self.errors()}")
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def _server(self):
        return SERVER.format(
            address=self.address, port=self.port, tls=" ssl http2" if self.certificate else "", root=self.root,
            settings="\n    ".join(self._settings),
        )

    def _configuration(self):
        return CONFIGURATION.format(user="user root;" if os.getuid() == 0 else "", work=self._work, server=self._server())

    def _start(self):
        """False if it ended, as it does if another program has taken the port."""
        configuration = os.path.join(self._work, "nginx.conf")
        with open(configuration, "w") as file:
            file.write(self._configuration())
        # It ends when this process does, however that ends.
        command = [*self._prefix, "setpriv", "--pdeathsig", "TERM", "nginx", "-c", configuration, "-p", self._work]
        with open(os.path.join(self._work, "output"), "ab") as output:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                return False
            if self._is_listening():
                return True
            time.sleep(0.01)
        raise RuntimeError(f"nginx does not answer:\n{self.errors()}")

    def _is_listening(self):
        """nginx writes its number after it has bound its port. A port in another network cannot be tried from here."""
        try:
            with open(os.path.join(self._work, "pid")) as file:
                if int(file.read() or 0) == 0:
                    return False
            if not self._prefix:
                socket.create_connection((self.address, self.port), 1).close()
            return True
        except (OSError, ValueError):
            return False

    def close(self):
        self.stop()
        shutil.rmtree(self._work, ignore_errors=True)

    def stop(self):
        """From now on connections are refused."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def url(self, path=""):
        return f"{'https' if self.certificate else 'http'}://{self.address}:{self.port}/{path}"

    def errors(self):
        """What nginx said."""
        said = ""
        for name in ("output", "error.log"):
            with open(os.path.join(self._work, name), errors="replace") as file:
                said += file.read()
        return said

    def _log(self):
        with open(os.path.join(self._work, "access.log"), "rb") as file:
            return file.read()

    def requests(self):
        """All requests that were answered so far. A request is logged only after its last byte has left: waits until
        none is added."""
        log = self._log()
        while True:
            time.sleep(0.05)
            if (now := self._log()) == log:
                break
            log = now
        # log_format keeps the line breaks of its text.
        records = re.findall(rb"\{[^{}]*\}", log)
        return [Logged(**json.loads(record, strict=False)) for record in records]

    def forget_requests(self):
        self.requests()
        os.truncate(os.path.join(self._work, "access.log"), 0)


class Directory(Nginx):
    """nginx over a directory of its own, into which files are put. It may be stopped, and started again at its port."""

    def __init__(self):
        self._directory = tempfile.mkdtemp(prefix="tfilefs-nginx-root-")
        self._date = 1_700_000_000
        super().__init__(self._directory)

    def start(self):
        self._fixed_port = self.port
        mounted.wait_until(self._start, 10, self.errors)

    def put(self, source):
        """Copies a file to the server; returns its URL. It has not changed just now: dates are whole seconds."""
        new = os.path.join(self.root, "new")
        shutil.copyfile(source, new)
        os.utime(new, (self._date, self._date))
        self._date += 1
        os.replace(new, os.path.join(self.root, os.path.basename(source)))
        return self.url(os.path.basename(source))

    def close(self):
        super().close()
        shutil.rmtree(self._directory, ignore_errors=True)
