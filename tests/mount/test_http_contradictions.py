# SPDX-License-Identifier: Apache-2.0
"""HTTP servers each of whose answers has one fault: a header is missing, comes twice, or is off by one; a body, or a part
of it, has a byte more or less than it should. A reader gets the right bytes or an error, never other bytes, and what
is kept on disk is right as well."""

import concurrent.futures
import errno
import os
import re

import pytest

import remote_files
import faulty_server as faulty
import mounted

OPTIONS = ("timeout=1", "recheck=60")
ALLOWED = {"right", "refused", "EIO", "ETIMEDOUT", "ESTALE"}
COLUMNS = ("events/x3.f8", "events/x9.f8", "events/list2/values.f4")
HEADERS = ("ETag", "Last-Modified", "Content-Range", "Content-Type", "Content-Length")


def off_by_one(text, number, by):
    """The number'th number of the text, or a last letter, becomes another."""
    found = list(re.finditer(r"\d+", text))
    if number >= len(found):
        return text[:-1] + chr(ord(text[-1]) + by)
    at = found[number]
    return text[: at.start()] + str(max(0, int(at.group()) + by)) + text[at.end() :]


def with_lines(change):
    """A rule: the right answer, whose lines of the head are those that change(name, value) returns."""

    def rule(exchange):
        def head(code, headers):
            lines = [line for name, value in headers.items() for line in change(name, str(value))]
            exchange.raw("\r\n".join([f"HTTP/1.1 {code} {faulty.REASONS[code]}", *lines, "", ""]).encode("latin-1"))

        exchange.head = head
        exchange.answer_right()
        exchange.end()  # where a length is wrong, neither side knows where the next answer begins

    return rule


def of_header(name, change):
    return with_lines(lambda each, value: change(each, value) if each == name else [f"{each}: {value}"])


def with_body(change, tells_length):
    """A rule: the right answer with change(body) as its body, which Content-Length tells or does not tell."""

    def rule(exchange):
        code, headers, body = faulty._right_body(exchange)
        changed = change(body)
        length = len(changed if tells_length else body)
        exchange.head(code, {"Content-Length": length, **exchange.validators(), **headers})
        exchange.body(changed)
        exchange.end()

    return rule


def in_chunks(change):
    """Without a length; the last chunk tells the end."""

    def rule(exchange):
        code, headers, body = faulty._right_body(exchange)
        changed = change(body)
        exchange.head(code, {"Transfer-Encoding": "chunked", **exchange.validators(), **headers})
        exchange.body(f"{len(changed):x}\r\n".encode() + changed + b"\r\n0\r\n\r\n")

    return rule


def with_parts(part):
    """A rule for requests of several ranges: each part is part(boundary line, head line, bytes)."""

    def rule(exchange):
        boundary = f"\r\n--{faulty.BOUNDARY}\r\n".encode()
        body = b""
        for span in exchange.asked():
            line = f"Content-Range: {exchange.content_range(span)}\r\n".encode()
            body += part(boundary, line, exchange.part(span))
        exchange.send_parts(body + boundary[:-2] + b"--\r\n")

    return faulty.with_ranges(rule, 2)


def _faults():
    found = {}
    for name in HEADERS:
        found[f"{name} missing"] = of_header(name, lambda name, value: [])
        found[f"{name} twice"] = of_header(name, lambda name, value: 2 * [f"{name}: {value}"])
        for by in (-1, 1):
            for number in range(3 if name == "Content-Range" else 1):
                other = lambda value, number=number, by=by: off_by_one(value, number, by)
                what = f"{name} number {number} {by:+}"
                found[what] = of_header(name, lambda name, value, other=other: [f"{name}: {other(value)}"])
                found[f"{what}, second"] = of_header(
                    name, lambda name, value, other=other: [f"{name}: {value}", f"{name}: {other(value)}"])
                found[f"{what}, first"] = of_header(
                    name, lambda name, value, other=other: [f"{name}: {other(value)}", f"{name}: {value}"])
    for what, change in (("less", lambda body: body[:-1]), ("more", lambda body: body + b"x")):
        found[f"a byte {what}"] = with_body(change, True)
        found[f"a byte {what} than told"] = with_body(change, False)
        found[f"a byte {what}, in chunks"] = in_chunks(change)
    found["the first byte missing"] = with_body(lambda body: body[1:], True)
    found["a byte before"] = with_body(lambda body: b"x" + body, True)
    parts = {
        "a byte less": lambda boundary, line, data: boundary + line + b"\r\n" + data[:-1],
        "two bytes less": lambda boundary, line, data: boundary + line + b"\r\n" + data[:-2],
        "the first byte missing": lambda boundary, line, data: boundary + line + b"\r\n" + data[1:],
        "a byte more": lambda boundary, line, data: boundary + line + b"\r\n" + data + b"x",
        "a line end more": lambda boundary, line, data: boundary + line + b"\r\n" + data + b"\r\n",
        "a line end less": lambda boundary, line, data: boundary[2:] + line + b"\r\n" + data,
        "half a line end": lambda boundary, line, data: boundary[1:] + line + b"\r\n" + data,
        "no range": lambda boundary, line, data: boundary + b"\r\n" + data,
        "two ranges": lambda boundary, line, data: boundary + 2 * line + b"\r\n" + data,
        "another boundary": lambda boundary, line, data: boundary.replace(b"\r\n", b"x\r\n") + line + b"\r\n" + data,
        "no boundary": lambda boundary, line, data: line + b"\r\n" + data,
        "no end of the head": lambda boundary, line, data: boundary + line + data,
    }
    for number in range(3):
        for by in (-1, 1):
            parts[f"number {number} {by:+}"] = lambda boundary, line, data, number=number, by=by: (
                boundary + off_by_one(line.decode().strip(), number, by).encode() + b"\r\n\r\n" + data)
    for what, part in parts.items():
        found[f"parts: {what}"] = with_parts(part)
    return found


FAULTS = _faults()
# Of the file as it is, from the first request on, or once it is open.
WHEN = ("always", "once it is open")


@pytest.fixture(scope="module")
def content(samples):
    with open(os.path.join(samples("remote"), "bare.root"), "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def expected(samples):
    with mounted.Mounted(os.path.join(samples("remote"), "bare.root")) as m:
        return {path: remote_files.read(os.path.join(m.path, path), 5) for path in COLUMNS}


def read_all(server, options, before_reading=lambda m: None):
    """{column: bytes or the name of an error}, or "refused"."""
    try:
        m = mounted.Mounted(server.url("a.root"), options, environment=remote_files.environment())
    except mounted.MountFailed:
        return "refused"
    with m:
        before_reading(m)
        return {path: remote_files.read(os.path.join(m.path, path), 3) for path in COLUMNS}


def outcome(got, expected):
    if isinstance(got, str):
        return {got}
    return {"right" if data == expected[path] else data if isinstance(data, str) else "wrong bytes"
            for path, data in got.items()}


def trial(fault, when, disk, content, expected):
    """What a reader gets while the fault is there, and what is read from the disk afterwards."""
    options = (*OPTIONS, *([f"diskcache={disk}"] if disk else []))
    with faulty.FaultyServer() as server:
        server.put("/a.root", content)
        begin = lambda m=None: setattr(server, "rule", FAULTS[fault])
        if when == "always":
            begin()
        got = outcome(read_all(server, options, begin), expected)
        server.rule = lambda exchange: False
        kept = outcome(read_all(server, options), expected) if disk else {"right"}
    return got, kept


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("disk", (False, True), ids=("", "disk"))
def test_a_fault_in_each_answer(content, expected, when, disk, tmp_path):
    wrong = {}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        running = {
            fault: pool.submit(trial, fault, when, disk and tmp_path / str(number), content, expected)
            for number, fault in enumerate(FAULTS)
        }
        for fault, done in running.items():
            got, kept = done.result()
            if not got <= ALLOWED or kept != {"right"}:
                wrong[fault] = got, kept
    assert not wrong, wrong


BOTH = {"etag", "modified"}


@pytest.mark.parametrize("before, after", ((BOTH, set()), (BOTH, {"modified"}), ({"etag"}, set()), ({"modified"}, set())))
@pytest.mark.parametrize("disk", (False, True), ids=("", "disk"))
def test_a_replaced_file_that_says_less_of_itself(content, tmp_path, before, after, disk):
    """It has the same size and, if it tells one, the same date."""
    options = (*OPTIONS, *([f"diskcache={tmp_path / 'disk'}"] if disk else []))
    with faulty.FaultyServer() as server:
        server.honours_conditions, server.tells = False, before
        server.put("/a.root", content)
        with mounted.Mounted(server.url("a.root"), options, environment=remote_files.environment()) as m:
            path = os.path.join(m.path, COLUMNS[0])
            with open(path, "rb", buffering=0) as held:
                server.put("/a.root", content[:5000] + bytes(byte ^ 255 for byte in content[5000:]))
                server.tells = after
                with pytest.raises(OSError) as failed:
                    held.read(10_000)
                assert failed.value.errno == errno.ESTALE
