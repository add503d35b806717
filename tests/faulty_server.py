# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that answers right until a test tells it which request gets which wrong answer.

    with FaultyServer() as server:
        server.put("/a.root", content)
        server.rule = whole_file                        # each request gets it
        server.rule = times(2, status(503))             # the first two; then right answers
        server.rule = touching(5000, 9000, truncated(100))
        server.url("a.root"), server.requests

A rule takes an Exchange and answers it, or returns False: then the right answer is given. The functions below are
rules, or make them."""

import contextlib
import dataclasses
import email.utils
import functools
import gzip
import hashlib
import re
import select
import socket
import ssl
import struct
import threading
import time

REASONS = {200: "OK", 206: "Partial Content", 207: "Multi-Status", 301: "Moved Permanently", 302: "Found", 307: "Temporary Redirect",
           401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 412: "Precondition Failed",
           416: "Range Not Satisfiable", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"}
BOUNDARY = "3d6b6a416f9b5"


@dataclasses.dataclass
class Request:
    method: str
    path: str
    headers: dict  # names in small letters
    time: float
    connection: int
    body: bytes = b""

    @property
    def ranges(self):
        """[(first, last)] as asked: None for what is left out. None if no range is asked."""
        value = self.headers.get("range", "")
        if not value.startswith("bytes="):
            return None
        pairs = re.findall(r"(\d*)-(\d*)", value)
        return [tuple(int(number) if number else None for number in pair) for pair in pairs]


@dataclasses.dataclass
class File:
    content: bytes
    etag: str
    modified: float


class Gone(Exception):
    """The client has ended the connection, or this end has to be closed."""


class Exchange:
    """A request, and what answers it."""

    def __init__(self, server, connection, request, file):
        self.server, self.request, self.file, self._socket = server, request, file, connection
        self.content = file.content if file else b""

    def raw(self, data):
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise Gone from error

    def head(self, code, headers):
        lines = [f"HTTP/1.1 {code} {REASONS.get(code, 'Answer')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.raw("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def send(self, code, body=b"", headers=None, validators=True):
        """The answer with its length."""
        all_headers = {"Content-Length": len(body), **(self.validators() if validators else {}), **(headers or {})}
        self.head(code, all_headers)
        self.body(body)

    def body(self, data):
        """After head(). The answer to HEAD has none."""
        if self.request.method != "HEAD":
            self.raw(data)

    def validators(self):
        """What tells this state of the file from others."""
        found = {"Accept-Ranges": "bytes"}
        if self.file and "etag" in self.server.tells:
            found["ETag"] = self.file.etag
        if self.file and "modified" in self.server.tells:
            found["Last-Modified"] = email.utils.formatdate(self.file.modified, usegmt=True)
        return found

    def end(self):
        """Closes the connection in order."""
        raise Gone

    def reset(self):
        """Ends the connection as a server does that crashes."""
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Gone

    def wait(self):
        """Answers no more, until the client or the server ends."""
        while not self.server.ended.is_set():
            readable, _, _ = select.select([self._socket], [], [], 0.05)
            if readable:
                with contextlib.suppress(OSError, ssl.SSLWantReadError):
                    self._socket.setblocking(False)
                    if self._socket.recv(4096):
                        continue
                break
        raise Gone

    def asked(self):
        """The ranges asked that have bytes in the file, as [(first, last)]; None if no range is asked."""
        if self.request.ranges is None:
            return None
        size, found = len(self.content), []
        for first, last in self.request.ranges:
            if first is None:
                first, last = max(0, size - (last or 0)), size - 1
            last = size - 1 if last is None else min(last, size - 1)
            if first <= last and first < size:
                found.append((first, last))
        return found

    def part(self, span):
        return self.content[span[0] : span[1] + 1]

    def content_range(self, span, total=None):
        return f"bytes {span[0]}-{span[1]}/{len(self.content) if total is None else total}"

    def send_one(self, span):
        self.send(206, self.part(span), {"Content-Range": self.content_range(span)})

    def send_parts(self, body, boundary=BOUNDARY):
        self.send(206, body, {"Content-Type": f"multipart/byteranges; boundary={boundary}"})

    def answer_right(self):
        if not self.file:
            return self.send(404, b"no such file\n")
        if self.server.honours_conditions and not self._conditions_hold():
            return self.send(412)
        spans = self.asked()
        if spans is None or not self._if_range_holds():
            return self.send(200, self.content)
        if not spans:
            return self.send(416, headers={"Content-Range": f"bytes */{len(self.content)}"})
        if len(spans) == 1:
            return self.send_one(spans[0])
        return self.send_parts(multipart_body(self, spans))

    def _conditions_hold(self):
        headers = self.request.headers
        if "if-match" in headers and headers["if-match"] != "*":
            if headers["if-match"] != self.file.etag or self.file.etag.startswith("W/"):  # a weak one never matches
                return False
        return not self._changed_since(headers.get("if-unmodified-since"))

    def _changed_since(self, date):
        return date is not None and self.file.modified > email.utils.parsedate_to_datetime(date).timestamp()

    def _if_range_holds(self):
        value = self.request.headers.get("if-range")
        if value is None or not self.server.honours_conditions:
            return True
        return value == self.file.etag if '"' in value else not self._changed_since(value)


class FaultyServer:
    """Serves what put() gave it, each connection on its own thread.

    certificate: TLS (http_server.Certificate). tells: which validators are sent. honours_conditions: false for a server
    that does not know If-Match and the like. etags_are_weak: of files that put() makes from then on."""

    def __init__(self, certificate=None, address="127.0.0.1"):
        self.files, self.requests, self.tells, self.honours_conditions = {}, [], {"etag", "modified"}, True
        self.etags_are_weak = False
        self.rule = lambda exchange: False
        self.ended = threading.Event()
        self.address, self.connections = address, 0
        self._certificate, self._lock, self._open = certificate, threading.Lock(), set()
        self._tls = None
        if certificate:
            self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._tls.load_cert_chain(certificate.certificate, certificate.key)

    def __enter__(self):
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        self._listener = socket.create_server((self.address, 0), family=family, backlog=128)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """From now on connections are refused, and those that are open end."""
        self.ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def url(self, path="", host=None, user=""):
        scheme = "https" if self._certificate else "http"
        host = host or (f"[{self.address}]" if ":" in self.address else self.address)
        return f"{scheme}://{user + '@' if user else ''}{host}:{self.port}/{path}"

    def put(self, path, content, modified=1_700_000_000.0):
        """Makes or replaces a file."""
        etag = '"' + hashlib.sha256(content).hexdigest()[:16] + '"'
        self.files[path] = File(content, "W/" + etag if self.etags_are_weak else etag, modified)

    def forget_requests(self):
        with self._lock:
            self.requests.clear()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection, number):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with self._lock:
                self._open.add(connection)
            unread = b""
            while not self.ended.is_set():
                request, unread = self._read_request(connection, unread, number)
                self._answer(connection, request)
        except (OSError, Gone):
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _read_request(self, connection, unread, number):
        while b"\r\n\r\n" not in unread:
            data = connection.recv(65536)
            if not data:
                raise Gone
            unread += data
        head, _, unread = unread.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        size = int(headers.get("content-length", 0))
        while len(unread) < size:
            data = connection.recv(65536)
            if not data:
                raise Gone
            unread += data
        return Request(method, path, headers, time.monotonic(), number, unread[:size]), unread[size:]

    def _answer(self, connection, request):
        with self._lock:
            self.requests.append(request)
        file = self.files.get(request.path.partition("?")[0])
        exchange = Exchange(self, connection, request, file)
        if self.rule(exchange) is False:
            exchange.answer_right()


# Which requests get a wrong answer.


def times(count, rule):
    """The first `count` requests, counted from when this is made."""
    lock, left = threading.Lock(), [count]

    def answer(exchange):
        with lock:
            left[0] -= 1
            if left[0] < 0:
                return False
        return rule(exchange)

    return answer


def after(count, rule):
    """All but the first `count` requests."""
    lock, seen = threading.Lock(), [0]

    def answer(exchange):
        with lock:
            seen[0] += 1
            if seen[0] <= count:
                return False
        return rule(exchange)

    return answer


def touching(begin, end, rule):
    """Requests for bytes of [begin, end), also among others."""

    def answer(exchange):
        if not any(first < end and last >= begin for first, last in exchange.asked() or []):
            return False
        return rule(exchange)

    return answer


def of_path(path, rule):
    return lambda exchange: rule(exchange) if exchange.request.path == path else False


def with_ranges(rule, least=1):
    """Requests for `least` ranges or more."""
    return lambda exchange: rule(exchange) if len(exchange.asked() or []) >= least else False


def first_of(*rules):
    """The first of these that answers."""

    def answer(exchange):
        return next((None for rule in rules if rule(exchange) is not False), False)

    return answer


# Wrong answers. Those that are about ranges leave other requests alone.


def _about_ranges(least):
    """Of a rule that answers requests for `least` ranges or more."""
    return lambda rule: functools.wraps(rule)(with_ranges(rule, least))


def multipart_body(exchange, spans, boundary=BOUNDARY, name="Content-Range", extra=b"", total=None):
    """Parts in the order of `spans`. `extra` stands before each boundary."""
    body = b""
    for span in spans:
        head = f"\r\n--{boundary}\r\n{name}: {exchange.content_range(span, total)}\r\n\r\n"
        body += extra + head.encode() + exchange.part(span)
    return body + extra + f"\r\n--{boundary}--\r\n".encode()


def whole_file(exchange):
    """200 with everything, as a server may that does not like the ranges."""
    exchange.send(200, exchange.content)


@_about_ranges(2)
def only_first_range(exchange):
    exchange.send_one(exchange.asked()[0])


@_about_ranges(1)
def other_ranges(exchange):
    """Whole and well-formed, but of bytes that lie elsewhere."""
    size = len(exchange.content)
    spans = [(first + 8, last + 8) if last + 8 < size else (first - 8, last - 8) for first, last in exchange.asked()]
    if len(spans) == 1:
        exchange.send_one(spans[0])
    else:
        exchange.send_parts(multipart_body(exchange, spans))


@_about_ranges(1)
def shorter_ranges(exchange):
    """Ranges that begin where they should and end too early. A server may do so; what lacks can be asked again."""
    spans = [(first, (first + last) // 2) for first, last in exchange.asked()]
    if len(spans) == 1:
        exchange.send_one(spans[0])
    else:
        exchange.send_parts(multipart_body(exchange, spans))


@_about_ranges(2)
def reversed_parts(exchange):
    exchange.send_parts(multipart_body(exchange, exchange.asked()[::-1]))


@_about_ranges(2)
def overlapping_parts(exchange):
    """Each part also has some bytes before and behind what is asked; some parts come twice."""
    size = len(exchange.content)
    wide = [(max(0, first - 50), min(size - 1, last + 50)) for first, last in exchange.asked()]
    exchange.send_parts(multipart_body(exchange, wide + wide[:1]))


@_about_ranges(2)
def joined_parts(exchange):
    """One range around all that are asked, as one part of a multipart."""
    spans = exchange.asked()
    exchange.send_parts(multipart_body(exchange, [(min(first for first, _ in spans), max(last for _, last in spans))]))


@_about_ranges(1)
def like_xrootd(exchange):
    """As XRootD 5: always the same boundary, small letters, an additional line break."""
    spans = exchange.asked()
    if len(spans) == 1:
        return exchange.send_one(spans[0])
    body = multipart_body(exchange, spans, "123456", "Content-range", extra=b"\r\n")
    return exchange.send_parts(body, "123456")


@_about_ranges(2)
def missing_part(exchange):
    exchange.send_parts(multipart_body(exchange, exchange.asked()[:-1]))


@_about_ranges(2)
def endless_parts(exchange):
    """The first part again and again."""
    exchange.head(206, {"Content-Type": f"multipart/byteranges; boundary={BOUNDARY}", "Transfer-Encoding": "chunked",
                        **exchange.validators()})
    part = multipart_body(exchange, exchange.asked()[:1]).rpartition(b"\r\n--")[0] * 20
    while not exchange.server.ended.is_set():
        exchange.raw(f"{len(part):x}\r\n".encode() + part + b"\r\n")


@_about_ranges(2)
def error_inside(exchange):
    """As XRootD 5 answers too many ranges: well begun, then another answer in the midst of the first."""
    spans = exchange.asked()
    body = multipart_body(exchange, spans)
    exchange.head(206, {"Content-Length": len(body), "Content-Type": f"multipart/byteranges; boundary={BOUNDARY}",
                        **exchange.validators()})
    half = multipart_body(exchange, spans[: len(spans) // 2]).rpartition(b"\r\n--")[0]
    exchange.raw(half + b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
    exchange.end()


@_about_ranges(1)
def absurd_sizes(exchange):
    """Parts that say they are larger than all memory."""
    body = b""
    for last in (2**63 - 2, 2**64 - 1, 10**30):
        body += f"\r\n--{BOUNDARY}\r\nContent-Range: bytes 0-{last}/{last + 1}\r\n\r\n".encode() + exchange.content[:100]
    exchange.send_parts(body + f"\r\n--{BOUNDARY}--\r\n".encode())


@_about_ranges(1)
def absurd_range(exchange):
    """A single range that says it is larger than all memory."""
    exchange.send(206, exchange.content[:100], {"Content-Range": f"bytes 0-{2**63 - 2}/{2**63 - 1}"})


@_about_ranges(1)
def absurd_length(exchange):
    exchange.head(206, {"Content-Length": 2**63 - 1, "Content-Range": f"bytes 0-{2**63 - 2}/{2**63 - 1}",
                        **exchange.validators()})
    exchange.raw(exchange.content[:100])
    exchange.end()


def endless_headers(exchange):
    """More headers than anybody needs, until the client has had enough."""
    exchange.raw(b"HTTP/1.1 206 Partial Content\r\n")
    while not exchange.server.ended.is_set():
        exchange.raw(b"X-More: " + b"x" * 8000 + b"\r\n")


def dripping_headers(exchange):
    """A line now and then, without end."""
    exchange.raw(b"HTTP/1.1 206 Partial Content\r\n")
    while not exchange.server.ended.is_set():
        exchange.raw(b"X-More: 1\r\n")
        time.sleep(0.1)


def dripping_continues(exchange):
    """Preliminary answers, without end."""
    while not exchange.server.ended.is_set():
        exchange.raw(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.1)


def no_http(exchange):
    exchange.raw(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
    exchange.end()


@_about_ranges(1)
def no_range_named(exchange):
    """206 without Content-Range."""
    exchange.send(206, exchange.part(exchange.asked()[0]))


@_about_ranges(1)
def wrong_total(exchange):
    """A file of another size, with the same ETag."""
    span = exchange.asked()[0]
    total = len(exchange.content) + 1000
    exchange.send(206, exchange.part(span), {"Content-Range": exchange.content_range(span, total)})


@_about_ranges(1)
def beyond_the_end(exchange):
    """As XRootD 5: promises bytes behind the end of the file, which do not come."""
    first, last = exchange.asked()[0]
    body = exchange.part((first, last))
    exchange.head(206, {"Content-Length": len(body) + 500, "Content-Range": exchange.content_range((first, last + 500)),
                        **exchange.validators()})
    exchange.raw(body)
    exchange.end()


def _right_body(exchange):
    """Status, headers and body of the right answer to a request for one range or several, or none."""
    spans = exchange.asked()
    if spans is None:
        return 200, {}, exchange.content
    if len(spans) == 1:
        return 206, {"Content-Range": exchange.content_range(spans[0])}, exchange.part(spans[0])
    return 206, {"Content-Type": f"multipart/byteranges; boundary={BOUNDARY}"}, multipart_body(exchange, spans)


def _cut(exchange, size):
    """Promises the whole answer, sends its first `size` bytes."""
    code, headers, body = _right_body(exchange)
    exchange.head(code, {"Content-Length": len(body), **exchange.validators(), **headers})
    exchange.body(body[:size])


@_about_ranges(1)
def short_body(exchange):
    """One range, of which only the first half comes, as a whole answer."""
    span = exchange.asked()[0]
    body = exchange.part(span)
    exchange.send(206, body[: len(body) // 2], {"Content-Range": exchange.content_range(span)})


@_about_ranges(1)
def long_body(exchange):
    """Half of one range, as Content-Range says truly, and as many bytes of nothing behind it."""
    first, last = exchange.asked()[0]
    middle = (first + last) // 2
    body = exchange.part((first, middle)) + bytes(last - middle)
    exchange.send(206, body, {"Content-Range": exchange.content_range((first, middle))})


@_about_ranges(2)
def long_parts(exchange):
    """Parts that are longer than they say."""
    body = b""
    for span in exchange.asked():
        head = f"\r\n--{BOUNDARY}\r\nContent-Range: {exchange.content_range(span)}\r\n\r\n"
        body += head.encode() + exchange.part(span) + bytes(100)
    exchange.send_parts(body + f"\r\n--{BOUNDARY}--\r\n".encode())


def compressed(exchange):
    """Content-Encoding, though nobody asked for one, as bad proxies do it."""
    code, headers, body = _right_body(exchange)
    exchange.send(code, gzip.compress(body, 1), {**headers, "Content-Encoding": "gzip"})


def closing(exchange):
    """The right answer; the connection ends after it, as it says."""
    code, headers, body = _right_body(exchange)
    exchange.send(code, body, {**headers, "Connection": "close"})
    exchange.end()


def closing_silently(exchange):
    """The same without a word: the next request may find the connection closed."""
    exchange.answer_right()
    exchange.end()


def truncated(size):
    def answer(exchange):
        _cut(exchange, size)
        exchange.end()

    return answer


def stalled(size):
    """Sends so many bytes of the body, then nothing more; the connection stays."""

    def answer(exchange):
        _cut(exchange, size)
        exchange.wait()

    return answer


def silent(exchange):
    """Not even a header."""
    exchange.wait()


def trickling(size, pause):
    """Each `pause` seconds so many bytes: slow, but never without progress."""

    def answer(exchange):
        code, headers, body = _right_body(exchange)
        exchange.head(code, {"Content-Length": len(body), **exchange.validators(), **headers})
        for at in range(0, len(body), size):
            exchange.body(body[at : at + size])
            if exchange.server.ended.wait(pause):
                break

    return answer


def reset_after(size):
    def answer(exchange):
        _cut(exchange, size)
        time.sleep(0.05)  # a reset overtakes what the client has not read yet
        exchange.reset()

    return answer


def refused(exchange):
    """The connection ends without an answer."""
    exchange.reset()


def without_length(exchange):
    """The end of the connection is the end of the body."""
    code, headers, body = _right_body(exchange)
    exchange.head(code, {"Connection": "close", **exchange.validators(), **headers})
    exchange.body(body)
    exchange.end()


def chunked(exchange):
    code, headers, body = _right_body(exchange)
    exchange.head(code, {"Transfer-Encoding": "chunked", **exchange.validators(), **headers})
    for at in range(0, len(body), 1000):
        piece = body[at : at + 1000]
        exchange.body(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    exchange.body(b"0\r\n\r\n")


def chunked_cut(exchange):
    """Chunks without the last one."""
    code, headers, body = _right_body(exchange)
    exchange.head(code, {"Transfer-Encoding": "chunked", **exchange.validators(), **headers})
    exchange.body(f"{len(body):x}\r\n".encode() + body[: len(body) // 2])
    exchange.end()


def status(code, **headers):
    """retry_after=1 becomes "Retry-After: 1"."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return lambda exchange: exchange.send(code, f"this is {code}\n".encode(), named, validators=False)


def redirect(code, location):
    """location: a URL, or a function that makes one of the exchange."""

    def answer(exchange):
        to = location(exchange) if callable(location) else location
        exchange.send(code, headers={"Location": to}, validators=False)

    return answer


def changing_date(exchange):
    """As of servers with copies: the same ETag with another date each time."""
    code, headers, body = _right_body(exchange)
    date = email.utils.formatdate(1_700_000_000 + time.monotonic_ns() % 1_000_000, usegmt=True)
    exchange.send(code, body, {**headers, "Last-Modified": date})


def changing_etag(exchange):
    """The right bytes under a new ETag each time."""
    code, headers, body = _right_body(exchange)
    exchange.send(code, body, {**headers, "ETag": f'"{time.monotonic_ns()}"'})


def suffix_is_whole(exchange):
    """As XRootD 5 answers "bytes=-N" alone: 200 with everything."""
    if exchange.request.ranges and len(exchange.request.ranges) == 1 and exchange.request.ranges[0][0] is None:
        return exchange.send(200, exchange.content)
    return suffix_is_dropped(exchange)


def suffix_is_dropped(exchange):
    """As XRootD 5 does in a list of ranges."""
    asked = exchange.request.ranges or []
    if all(first is not None for first, _ in asked):
        return False
    kept = ",".join(f"{first}-{'' if last is None else last}" for first, last in asked if first is not None)
    if not kept:
        return exchange.send(200, exchange.content)
    headers = {**exchange.request.headers, "range": "bytes=" + kept}
    exchange.request = dataclasses.replace(exchange.request, headers=headers)  # what came stays as it was recorded
    return False


def head_has_size_only(exchange):
    """As XRootD 5."""
    if exchange.request.method != "HEAD":
        return False
    return exchange.send(200, exchange.content, validators=False)


def promises_over_the_end(exchange):
    """As XRootD 5 answers a range that ends beyond the end of the file: all is promised, nothing comes."""
    size = len(exchange.content)
    if len(exchange.request.ranges or []) != 1:
        return False
    [(first, last)] = exchange.request.ranges
    if first is None or last is None or last < size:
        return False
    exchange.head(206, {"Content-Length": last - first + 1, "Content-Range": f"bytes {first}-{last}/{size}"})
    return exchange.end()


def without_head(exchange):
    """A server that does not know HEAD, or refuses it, as signed URLs do."""
    return exchange.send(403) if exchange.request.method == "HEAD" else False


def needs_token(*tokens):
    """401 without "Authorization: Bearer" and one of these."""

    def answer(exchange):
        if exchange.request.headers.get("authorization") in [f"Bearer {token}" for token in tokens]:
            return False
        return exchange.send(401, b"", {"WWW-Authenticate": "Bearer"}, validators=False)

    return answer


def needs_password(basic):
    """401 without the Base64 of "user:password"."""

    def answer(exchange):
        if exchange.request.headers.get("authorization") == f"Basic {basic}":
            return False
        return exchange.send(401, b"", {"WWW-Authenticate": 'Basic realm="tests"'}, validators=False)

    return answer


class Waves:
    """A rule that counts round trips: requests wait until none has come for a while; then all are answered. What a client
    asks together counts as one wave, what it asks after an answer as the next one."""

    def __init__(self, quiet=0.1):
        self.sizes = []  # requests in each wave
        self._quiet, self._lock, self._waiting = quiet, threading.Condition(), 0
        self._last = 0.0

    @property
    def count(self):
        return len(self.sizes)

    def __call__(self, exchange):
        with self._lock:
            wave = len(self.sizes)
            self._waiting += 1
            self._last = time.monotonic()
            while len(self.sizes) == wave:
                left = self._last + self._quiet - time.monotonic()
                if left <= 0:
                    self.sizes.append(self._waiting)
                    self._waiting = 0
                    self._lock.notify_all()
                else:
                    self._lock.wait(left)
        return False
