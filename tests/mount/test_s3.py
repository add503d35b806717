# SPDX-License-Identifier: Apache-2.0
"""Files of S3: the service that is named, and requests that carry a right signature."""

import contextlib
import datetime
import json
import os
import subprocess
import time

import pytest

import remote_files
import faulty_server as faulty
import listings
import mounted
import s3_server

KEY_ID, SECRET, REGION = "AKIATESTS", "secret/of+the=tests", "eu-west-3"
COLUMN = "events/x3.f8"


def is_signed(request):
    return listings.is_signed(request, KEY_ID, SECRET, REGION)


def refuse_unsigned(exchange):
    return False if is_signed(exchange.request) else faulty.status(403)(exchange)


@pytest.fixture
def server(samples):
    with faulty.FaultyServer() as server, open(os.path.join(samples("remote"), "remote.root"), "rb") as file:
        content = file.read()
        server.put("/bucket/run%201/remote.root", content)
        server.put("/bucket/plain.root", content)
        server.rule = refuse_unsigned
        yield server


def environment(server, **keys):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return dict(clean, AWS_ENDPOINT_URL=server.url(""), AWS_REGION=REGION, AWS_SHARED_CREDENTIALS_FILE="/nonexistent",
                AWS_CONFIG_FILE="/nonexistent", **keys)


@contextlib.contextmanager
def mounted_from(url, environment, timeout=2):
    with mounted.Mounted(url, (f"timeout={timeout}",), environment=environment) as m:
        yield m


@pytest.fixture
def column(samples):
    with mounted.Mounted(os.path.join(samples("remote"), "remote.root")) as m:
        return remote_files.read(os.path.join(m.path, COLUMN), 5)


@pytest.mark.parametrize("name", ("plain.root", "run 1/remote.root"))
def test_a_file_is_read_with_signed_requests(server, column, name):
    keys = environment(server, AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET)
    with mounted_from("s3://bucket/" + name, keys) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column
        for control in ("errors", "stats.json", "config.json", "metrics"):
            with open(os.path.join(m.path, ".tfilefs", control)) as file:
                assert SECRET not in file.read()
    assert len(server.requests) >= 2 and all(is_signed(request) for request in server.requests)


def test_keys_of_a_file(server, column, tmp_path):
    (tmp_path / "credentials").write_text(f"[default]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n")
    keys = environment(server)
    keys["AWS_SHARED_CREDENTIALS_FILE"] = str(tmp_path / "credentials")
    with mounted_from("s3://bucket/plain.root", keys) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column


def test_keys_that_change_in_their_file(server, column, tmp_path):
    """As tools write them that renew the keys of a role."""
    file = tmp_path / "credentials"
    write = lambda secret: file.write_text(f"[default]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {secret}\n")
    write("before")
    server.rule = lambda exchange: False if listings.is_signed(exchange.request, KEY_ID, "before", REGION) else faulty.status(403)(exchange)
    with mounted_from("s3://bucket/plain.root", dict(environment(server), AWS_SHARED_CREDENTIALS_FILE=str(file)), 10) as m:
        assert os.listdir(m.path)
        write(SECRET)
        server.rule = lambda exchange: False if is_signed(exchange.request) else faulty.status(400)(exchange)
        assert remote_files.read(os.path.join(m.path, COLUMN), 10) == column
        assert is_signed(server.requests[-1])


class Lender:
    """A credential_process, which prints the keys that `lend` has named, and its configuration."""

    def __init__(self, directory):
        self.runs, self._printed = directory / "runs", directory / "printed"
        program = directory / "lend er"
        program.write_text(f"#!/bin/sh\necho \"$1\" >> '{self.runs}'\nexec cat '{self._printed}'\n")
        program.chmod(0o755)
        (directory / "config").write_text(f'[profile lent]\nregion = {REGION}\ncredential_process = "{program}" role\n')
        self.environment = {"AWS_CONFIG_FILE": str(directory / "config"), "AWS_PROFILE": "lent"}

    def lend(self, secret, seconds=None):
        keys = {"Version": 1, "AccessKeyId": KEY_ID, "SecretAccessKey": secret, "SessionToken": TOKEN}
        if seconds is not None:
            end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
            keys["Expiration"] = end.isoformat()
        self._printed.write_text(json.dumps(keys))


TOKEN = "the-session/token+of=tests"


@pytest.fixture
def lender(server, tmp_path):
    lender = Lender(tmp_path)
    lender.environment = {**environment(server), **lender.environment}
    del lender.environment["AWS_REGION"]
    return lender


def accepts(server, secret, other_status):
    server.rule = lambda exchange: (False if listings.is_signed(exchange.request, KEY_ID, secret, REGION)
                                    else faulty.status(other_status)(exchange))


def test_keys_that_a_program_prints(server, column, lender):
    lender.lend(SECRET, 3600)
    with mounted_from("s3://bucket/plain.root", lender.environment, 10) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column
    assert len(server.requests) > 1 and all(is_signed(request) for request in server.requests)
    assert {request.headers["x-amz-security-token"] for request in server.requests} == {TOKEN}
    assert lender.runs.read_text() == "role\n"


@pytest.mark.parametrize("left, status", ((250, 400), (None, 403)))
def test_keys_of_a_program_are_renewed(server, column, lender, left, status):
    """Some minutes before they expire; or, if it does not say when, once the server refuses them."""
    lender.lend("before", left)
    accepts(server, "before", status)
    with mounted_from("s3://bucket/plain.root", lender.environment, 20) as m:
        assert os.listdir(m.path)
        lender.lend(SECRET, 3600)
        time.sleep(10.5)  # the program does not run more often
        if left:
            os.listdir(os.path.join(m.path, "events"))
        accepts(server, SECRET, status)
        assert remote_files.read(os.path.join(m.path, COLUMN), 20) == column
    assert 2 <= len(lender.runs.read_text().splitlines()) <= 3


@pytest.mark.parametrize("source", ("s3://bucket/plain.root", "s3://bucket"))
def test_a_program_that_prints_no_keys_is_told(program, lender, source):
    lender._printed.write_text("Session expired: log in")
    done = subprocess.run([program, "ls", source], env=lender.environment, text=True, capture_output=True, timeout=20)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"{source}: credential_process: printed no object of JSON" in done.stderr


@pytest.mark.parametrize("code", (301, 302, 307))
def test_keys_do_not_go_to_another_server(server, samples, column, code):
    """Nor does the session's token, which is a line of the head."""
    keys = environment(server, AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET, AWS_SESSION_TOKEN=TOKEN)
    with faulty.FaultyServer() as other:
        other.put("/elsewhere.root", server.files["/bucket/plain.root"].content)
        server.rule = faulty.redirect(code, other.url("elsewhere.root"))
        with mounted_from("s3://bucket/plain.root", keys) as m:
            assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column
        assert server.requests and all(request.headers["x-amz-security-token"] == TOKEN for request in server.requests)
        assert other.requests
        for request in other.requests:
            assert not {"authorization", "x-amz-security-token"} & set(request.headers) and TOKEN not in str(request)


def test_a_redirection_within_the_service_is_signed(server, column):
    keys = environment(server, AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET)
    server.put("/bucket/moved.root", server.files["/bucket/plain.root"].content)
    server.rule = faulty.first_of(refuse_unsigned, faulty.of_path("/bucket/plain.root", faulty.redirect(307, "/bucket/moved.root")))
    with mounted_from("s3://bucket/plain.root", keys) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column
    for location in ("/bucket/plain.root", "file:///etc/passwd", "http://", "::"):
        server.rule = faulty.redirect(302, location)
        done = subprocess.run([mounted.program(), "ls", "-o", "timeout=1", "s3://bucket/plain.root"], env=keys, text=True,
                              capture_output=True, timeout=20)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, location


def test_wrong_keys_are_refused(program, server, tmp_path):
    for keys in ({}, {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": "wrong"}):
        done = subprocess.run([program, "ls", "s3://bucket/plain.root"], env=environment(server, **keys), text=True,
                              capture_output=True, timeout=20)
        assert done.returncode == 1 and "status 403" in done.stderr and done.stderr.count("\n") == 1


def test_a_signed_request_is_not_repeated_for_a_token(program, server):
    """401 says to others that their bearer token has expired. Keys that have not changed are refused again."""
    server.rule = faulty.status(401)
    keys = environment(server, AWS_ACCESS_KEY_ID=KEY_ID, AWS_SECRET_ACCESS_KEY=SECRET)
    done = subprocess.run([program, "ls", "s3://bucket/plain.root"], env=keys, text=True, capture_output=True, timeout=20)
    assert done.returncode == 1 and "status 401" in done.stderr
    asked = [(request.method, request.path, request.headers.get("range")) for request in server.requests]
    assert len(asked) == len(set(asked)), asked


def test_files_for_all_need_no_keys(server, column):
    server.rule = lambda exchange: False
    with mounted_from("s3://bucket/plain.root", environment(server)) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column
    assert not any("authorization" in request.headers for request in server.requests)


# A server that is not of this project: it checks signatures, pages its lists and names its errors as Amazon's does.
# It needs seconds for a list of a thousand keys on a busy machine.
SERVICE_TIMEOUT = 30


@pytest.fixture(scope="module")
def service(samples):
    with s3_server.S3Server() as server, open(os.path.join(samples("remote"), "remote.root"), "rb") as file:
        content = file.read()
        server.make_bucket("runs")
        for key in ("plain.root", "2018/a b+c.root", "2018/ä=&?.root", "2018/deep/er/z.root", "notes.txt"):
            server.put("runs", key, content if key.endswith(".root") else b"no file of ROOT")
        for number in range(1100):  # a list has at most 1,000
            server.put("runs", f"many/{number:04}.txt", b"x")
        yield server


def keys_of(service, **changed):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return dict(clean, AWS_ENDPOINT_URL=service.url, AWS_REGION=s3_server.REGION, AWS_ACCESS_KEY_ID=service.key_id,
                AWS_SECRET_ACCESS_KEY=service.secret, AWS_SHARED_CREDENTIALS_FILE="/nonexistent", **changed)


@pytest.mark.parametrize("key", ("plain.root", "2018/a b+c.root", "2018/ä=&%3F.root"))
def test_a_service_that_checks_signatures(service, column, key):
    with mounted_from("s3://runs/" + key, keys_of(service), SERVICE_TIMEOUT) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 5) == column


def test_a_bucket_of_a_service_is_a_tree(service, column):
    with mounted_from("s3://runs", keys_of(service), SERVICE_TIMEOUT) as m:
        assert sorted(os.listdir(m.path)) == ["2018", "many", "notes.txt", "plain.root"]
        assert sorted(os.listdir(os.path.join(m.path, "2018"))) == ["a b+c.root", "deep", "ä=&?.root"]
        assert len(os.listdir(os.path.join(m.path, "many"))) == 1100
        for path in ("2018/a b+c.root", "2018/ä=&?.root", "2018/deep/er/z.root"):
            assert remote_files.read(os.path.join(m.path, path, COLUMN), 5) == column, path
        with open(os.path.join(m.path, "notes.txt"), "rb") as file:
            assert file.read() == b"no file of ROOT"


def test_a_pattern_in_a_bucket_of_a_service(program, service):
    done = subprocess.run([program, "ls", "s3://runs/2018/*.root"], env=keys_of(service), text=True,
                          capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert "a%20b%2Bc.root:" in done.stdout and "z.root" not in done.stdout


@pytest.mark.parametrize("wrong", ({"AWS_SECRET_ACCESS_KEY": "wrong"}, {"AWS_ACCESS_KEY_ID": "AKIANOBODY"}))
def test_a_service_refuses_wrong_keys(program, service, wrong):
    keys = {**keys_of(service), **wrong}
    for source in ("s3://runs/plain.root", "s3://runs"):
        done = subprocess.run([program, "ls", source], env=keys, text=True, capture_output=True, timeout=30)
        assert done.returncode == 1 and "status 403" in done.stderr and done.stderr.count("\n") == 1, done.stderr
