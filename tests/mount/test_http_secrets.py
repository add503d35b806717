# SPDX-License-Identifier: Apache-2.0
"""Tokens and passwords: which one is sent, to whom, and that nothing tells of it."""

import base64
import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile

import pytest

import delayed_network
import remote_files
import faulty_server as faulty
import http_server
import mounted

OPTIONS = ("timeout=1", "recheck=1")
USER = 23003  # needs no name; nobody else uses its tokens
SECRET = "eyJhbGciOi.secret-of-the.tests_0123456789"
COLUMN = "events/x3.f8"


@pytest.fixture(scope="module")
def public_directory():
    """One that another user can read."""
    directory = tempfile.mkdtemp(prefix="tfilefs-public-")
    os.chmod(directory, 0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def certificate(public_directory):
    return http_server.make_certificate(public_directory)


@pytest.fixture(scope="module")
def content(samples):
    with open(os.path.join(samples("remote"), "remote.root"), "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def column(samples):
    with mounted.Mounted(os.path.join(samples("remote"), "remote.root")) as m:
        return remote_files.read(os.path.join(m.path, COLUMN), 5)


@pytest.fixture
def server(certificate, content):
    with faulty.FaultyServer(certificate) as server:
        server.put("/remote.root", content)
        yield server


@contextlib.contextmanager
def mounted_from(url, certificate, **more):
    environment = remote_files.environment(SSL_CERT_FILE=certificate.authority, **more)
    with mounted.Mounted(url, OPTIONS, environment=environment) as m:
        yield m


def listed_by_user(url, certificate, **more):
    """`tfilefs ls`, which needs no /dev/fuse, as the other user."""
    command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", mounted.program(), "ls", url]
    environment = remote_files.environment(SSL_CERT_FILE=certificate.authority, **more)
    return subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment)


def told(m):
    """All that a mount says: its control files, its messages, and the kernel's list of mounts."""
    said = m.messages()
    control = os.path.join(m.path, ".tfilefs")
    for folder, _, names in os.walk(control):
        for name in names:
            with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                said += file.read().decode("utf-8", "replace")
    with open("/proc/self/mountinfo") as mounts:
        said += mounts.read()
    done = remote_files.run([mounted.program(), "stats", m.path], 10)
    return said + done.stdout.decode() + done.stderr


def assert_untold(m, *secrets):
    said = told(m)
    assert "uptime_seconds" in said
    for secret in secrets:
        assert secret not in said, [line for line in said.splitlines() if secret in line]


def make_error(m, *servers):
    """A line in .tfilefs/errors, about a column that is not there yet."""
    for one in servers:
        one.rule = faulty.status(403)
    assert remote_files.read(os.path.join(m.path, "events/x9.f8"), 3) == "EACCES"
    assert m.errors() != ""


# Where the token comes from.

SOURCES = ("BEARER_TOKEN", "BEARER_TOKEN_FILE", "XDG_RUNTIME_DIR", "/tmp")


@contextlib.contextmanager
def tokens(directory, first):
    """The environment in which the token comes from `first`; the sources that come after it have another one."""
    environment, files = {}, []

    def file_of(path, token):
        with open(path, "w") as file:
            file.write(token + "\n")
        os.chown(path, USER, USER)
        os.chmod(path, 0o600)
        files.append(path)
        return path

    try:
        for source in SOURCES[SOURCES.index(first) :]:
            token = SECRET if source == first else "another-token"
            if source == "BEARER_TOKEN":
                environment[source] = token
            elif source == "BEARER_TOKEN_FILE":
                environment[source] = file_of(os.path.join(directory, "token"), token)
            elif source == "XDG_RUNTIME_DIR":
                environment[source] = directory
                file_of(os.path.join(directory, f"bt_u{USER}"), token)
            else:
                file_of(f"/tmp/bt_u{USER}", token)
        yield environment
    finally:
        for path in files:
            os.unlink(path)


@pytest.mark.skipif(os.getuid() != 0, reason="another user's token needs root")
@pytest.mark.parametrize("first", SOURCES)
def test_where_the_token_comes_from(server, certificate, public_directory, first):
    server.rule = faulty.needs_token(SECRET)
    with tokens(public_directory, first) as environment:
        done = listed_by_user(server.url("remote.root"), certificate, **environment)
        assert done.returncode == 0 and "events" in done.stdout, done.stderr
    assert {request.headers.get("authorization") for request in server.requests} == {f"Bearer {SECRET}"}


@pytest.mark.skipif(os.getuid() != 0, reason="another user's file needs root")
def test_a_token_that_somebody_else_put_into_tmp_is_not_used(server, certificate, public_directory):
    path = f"/tmp/bt_u{USER}"
    with open(path, "w") as file:  # root's, not that user's
        file.write(SECRET)
    os.chmod(path, 0o644)
    try:
        assert listed_by_user(server.url("remote.root"), certificate).returncode == 0
    finally:
        os.unlink(path)
    assert server.requests and all("authorization" not in request.headers for request in server.requests)


@pytest.mark.skipif(os.getuid() != 0, reason="another user's link needs root")
def test_a_link_in_tmp_to_another_file_of_the_user_is_no_token(server, certificate, public_directory):
    secret = os.path.join(public_directory, "password")
    with open(secret, "w") as file:
        file.write(SECRET)
    os.chown(secret, USER, USER)
    os.symlink(secret, f"/tmp/bt_u{USER}")
    try:
        assert listed_by_user(server.url("remote.root"), certificate).returncode == 0
    finally:
        os.unlink(f"/tmp/bt_u{USER}")
        os.unlink(secret)
    assert server.requests and all("authorization" not in request.headers for request in server.requests)


def test_a_token_that_expires_is_read_anew(server, certificate, column, tmp_path):
    path = tmp_path / "token"
    path.write_text("the-first-one\n")
    server.rule = faulty.needs_token("the-first-one")
    with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN_FILE=str(path)) as m:
        os.listdir(os.path.join(m.path, "events"))
        path.write_text(SECRET + "\n")
        server.rule = faulty.needs_token(SECRET)
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
        server.rule = faulty.needs_token("one that this user has not")
        assert remote_files.read(os.path.join(m.path, "events/x9.f8"), 3) == "EACCES"
        assert_untold(m, SECRET, "the-first-one")


def test_a_mount_without_the_token_is_refused(server, certificate):
    server.rule = faulty.needs_token(SECRET)
    with pytest.raises(mounted.MountFailed) as failed:
        with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN="a-wrong-one"):
            pass
    assert failed.value.status == 1 and failed.value.message.count("\n") == 1
    assert server.url("remote.root") in failed.value.message and "a-wrong-one" not in failed.value.message


def test_a_token_with_a_line_break_adds_no_header(server, certificate):
    try:
        with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN="abc\r\nX-Added: 1"):
            pass
    except mounted.MountFailed:
        pass
    assert server.requests and all("x-added" not in request.headers for request in server.requests)


# Where it does not go.


@pytest.mark.parametrize("code", (301, 302, 307, 308))
def test_a_token_does_not_go_to_another_server(server, certificate, content, column, code):
    with faulty.FaultyServer(certificate) as other:
        other.put("/elsewhere.root", content)
        server.rule = faulty.redirect(code, other.url("elsewhere.root"))
        with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN=SECRET) as m:
            assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
        assert all(request.headers["authorization"] == f"Bearer {SECRET}" for request in server.requests)
        assert other.requests and not any("authorization" in request.headers for request in other.requests)
        assert not any("cookie" in request.headers for request in other.requests)


def test_a_token_does_not_go_to_another_host_name(server, certificate, column):
    """The same port of the same machine, under another name."""
    elsewhere = server.url("remote.root", host="localhost")
    server.rule = lambda exchange: (faulty.redirect(302, elsewhere)(exchange)
                                    if exchange.request.headers["host"].startswith("127.") else False)
    with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN=SECRET) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
    for request in server.requests:
        assert ("authorization" in request.headers) == request.headers["host"].startswith("127.")


def test_a_token_goes_along_within_the_server(server, certificate, content, column):
    server.put("/moved/remote.root", content)
    needs = faulty.needs_token(SECRET)
    server.rule = faulty.first_of(needs, faulty.of_path("/remote.root", faulty.redirect(302, "/moved/remote.root")))
    with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN=SECRET) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column


def test_a_token_does_not_leave_the_machine_without_tls(samples, column):
    with delayed_network.DelayedNetwork(1) as network:
        remote = dict(address=network.remote_address, port=8080, prefix=network.command("remote"))
        with http_server.Nginx(samples("remote"), **remote) as server:
            environment = remote_files.environment(BEARER_TOKEN=SECRET)
            with mounted.Mounted(server.url("remote.root"), OPTIONS, environment=environment,
                                 prefix=network.command("near")) as m:
                assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
            assert {request.authorization for request in server.requests()} == {""}


def test_a_redirection_to_plain_http_takes_no_token_along(server, certificate, content, column):
    with faulty.FaultyServer() as plain:
        plain.put("/remote.root", content)
        server.rule = faulty.redirect(302, plain.url("remote.root"))
        with contextlib.suppress(mounted.MountFailed):
            with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN=SECRET) as m:
                assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
        assert not any("authorization" in request.headers for request in plain.requests)


def test_a_redirection_that_expires_is_asked_for_again(server, certificate, content, column):
    """As storage behind a door does it: each redirection has a signature that holds for a while."""
    with faulty.FaultyServer(certificate) as storage:
        storage.put("/remote.root", content)
        made, expired = itertools.count(), set()

        def sign(exchange):
            return storage.url(f"remote.root?signature={SECRET}-{next(made)}")

        def holds(exchange):
            return exchange.send(403) if exchange.request.path in expired else False

        server.rule, storage.rule = faulty.redirect(302, sign), holds
        with mounted_from(server.url("remote.root"), certificate) as m:
            for name in ("events/x5.f8", "events/list1/values.f4", "ntuple/x.f8"):
                expired.update(request.path for request in storage.requests)
                assert not isinstance(remote_files.read(os.path.join(m.path, name), 3), str), name
            assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
            make_error(m, server, storage)
            assert_untold(m, SECRET)
        assert 3 < next(made) < 100


# Passwords, and secrets in the URL.


@pytest.fixture
def password_server(server):
    server.rule = faulty.needs_password(base64.b64encode(f"someone:{SECRET}".encode()).decode())
    return server


def test_a_password_of_netrc(password_server, certificate, column, tmp_path):
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login someone password {SECRET}\n")
    (tmp_path / ".netrc").chmod(0o600)
    with mounted_from(password_server.url("remote.root"), certificate, home=str(tmp_path)) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
        make_error(m, password_server)
        assert_untold(m, SECRET)


def test_a_password_of_netrc_does_not_go_to_another_server(password_server, certificate, content, tmp_path):
    (tmp_path / ".netrc").write_text(f"machine localhost login someone password {SECRET}\n")
    (tmp_path / ".netrc").chmod(0o600)
    with pytest.raises(mounted.MountFailed):
        with mounted_from(password_server.url("remote.root"), certificate, home=str(tmp_path)):
            pass
    assert not any("authorization" in request.headers for request in password_server.requests)


def test_a_password_in_the_url_is_told_nowhere(password_server, certificate, column):
    with mounted_from(password_server.url("remote.root", user=f"someone:{SECRET}"), certificate) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
        make_error(m, password_server)
        assert_untold(m, SECRET)


def test_a_secret_in_the_query_is_told_nowhere(server, certificate, column):
    """?authz= of XRootD, signatures of S3, and any other: what it means is not known."""
    for name in ("authz", "X-Amz-Signature", "any"):
        server.rule = lambda exchange: False
        with mounted_from(server.url(f"remote.root?{name}={SECRET}"), certificate) as m:
            assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
            make_error(m, server)
            assert_untold(m, SECRET)
    assert all(SECRET in request.path for request in server.requests)


def test_a_chain_tells_no_secret_nor_does_its_index(server, certificate, content, column, tmp_path):
    server.put("/near.root", content)
    urls = [server.url(f"{name}.root?authz={SECRET}", user=f"someone:{SECRET}") for name in ("remote", "near")]
    environment = remote_files.environment(SSL_CERT_FILE=certificate.authority)
    for _ in range(2):
        server.forget_requests()
        with mounted.Mounted(urls, (*OPTIONS, "chain", f"index={tmp_path / 'index'}"), environment=environment) as m:
            opened = len(server.requests)
            assert remote_files.read(os.path.join(m.path, COLUMN), 3) == 2 * column
            assert_untold(m, SECRET)
            with open(os.path.join(m.path, ".chain.json")) as file:
                assert SECRET not in file.read() + str(os.listdir(os.path.join(m.path, ".files")))
        assert SECRET.encode() not in (tmp_path / "index").read_bytes()
    assert opened == 2, "one look for each file"


def test_output_of_commands_tells_no_secret(server, certificate, tmp_path):
    environment = remote_files.environment(SSL_CERT_FILE=certificate.authority)
    url = server.url(f"remote.root?authz={SECRET}", user=f"someone:{SECRET}")
    for command in (["ls", "-lR", url], ["map", url], ["check", url], ["advise", url], ["classes", url, tmp_path / "headers"],
                    ["repack", "--columns", "x3", url, tmp_path / "out.root"]):
        done = subprocess.run([mounted.program(), *command], capture_output=True, text=True, timeout=60, env=environment)
        assert done.returncode in (0, 1) and SECRET not in done.stdout + done.stderr, (command[0], done.stderr)
    for written in (tmp_path / "out.root", *(tmp_path / "headers").iterdir()):
        assert SECRET.encode() not in written.read_bytes(), written


def test_messages_of_commands_tell_no_secret(server, certificate, tmp_path):
    server.rule = faulty.status(403)
    environment = remote_files.environment(SSL_CERT_FILE=certificate.authority, BEARER_TOKEN=SECRET + "-token")
    url = server.url(f"remote.root?authz={SECRET}", user=f"someone:{SECRET}")
    for command in ([url, str(tmp_path / "mnt")], ["ls", url], ["map", url], ["check", url]):
        done = subprocess.run([mounted.program(), *command], capture_output=True, text=True, timeout=20, env=environment)
        assert done.returncode != 0 and done.stderr.count("\n") == 1
        assert SECRET not in done.stdout + done.stderr, (command[0], done.stderr)


def test_a_token_is_told_nowhere(server, certificate, column):
    server.rule = faulty.needs_token(SECRET)
    with mounted_from(server.url("remote.root"), certificate, BEARER_TOKEN=SECRET) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
        make_error(m, server)
        assert_untold(m, SECRET)


# Who the server is.


def test_a_server_that_nobody_vouches_for_is_refused(server):
    with pytest.raises(mounted.MountFailed) as failed:
        with mounted.Mounted(server.url("remote.root"), OPTIONS, environment=remote_files.environment(BEARER_TOKEN=SECRET)):
            pass
    assert failed.value.message.count("\n") == 1 and "certificate" in failed.value.message.lower()
    assert server.requests == []


def test_a_server_of_another_name_is_refused(server, certificate):
    with pytest.raises(mounted.MountFailed) as failed:
        with mounted_from(server.url("remote.root", host="127.0.0.2"), certificate, BEARER_TOKEN=SECRET):
            pass
    assert failed.value.message.count("\n") == 1
    assert server.requests == []


def test_a_certificate_that_has_expired_is_refused(content, tmp_path):
    expired = http_server.make_certificate(tmp_path, days=-1)
    with faulty.FaultyServer(expired) as server:
        server.put("/remote.root", content)
        with pytest.raises(mounted.MountFailed) as failed:
            with mounted_from(server.url("remote.root"), expired, BEARER_TOKEN=SECRET):
                pass
        assert failed.value.message.count("\n") == 1 and "certificate" in failed.value.message.lower()
        assert server.requests == []


@contextlib.contextmanager
def in_tmp(name, content, owner):
    path = f"/tmp/{name}"
    with open(path, "wb") as file:
        file.write(content)
    os.chown(path, owner, owner)
    os.chmod(path, 0o644 if owner == 0 else 0o600)
    try:
        yield
    finally:
        os.unlink(path)


@pytest.mark.skipif(os.getuid() != 0, reason="another user's file needs root")
@pytest.mark.parametrize("owner", (USER, 0), ids=("the user's", "another user's"))
def test_a_grid_proxy_in_tmp_is_shown_if_it_is_the_users_own(samples, certificate, owner):
    proxy = b"".join(open(part, "rb").read() for part in (certificate.certificate, certificate.key))
    settings = f"ssl_verify_client on; ssl_client_certificate {certificate.authority};"
    with http_server.Nginx(samples("remote"), certificate, settings=settings) as server, in_tmp(f"x509up_u{USER}", proxy, owner):
        done = listed_by_user(server.url("remote.root"), certificate)
        assert (done.returncode == 0) == (owner == USER), done.stderr


def test_pipes_in_the_place_of_files_are_not_waited_for(server, certificate, tmp_path):
    """Of a token, a grid proxy, passwords: nobody writes into them."""
    for name in ("token", "proxy", ".netrc"):
        os.mkfifo(tmp_path / name)
    environment = remote_files.environment(str(tmp_path), SSL_CERT_FILE=certificate.authority, BEARER_TOKEN_FILE=str(tmp_path / "token"),
                                        X509_USER_PROXY=str(tmp_path / "proxy"))
    done = subprocess.run([mounted.program(), "ls", server.url("remote.root")], capture_output=True, text=True, timeout=20,
                          env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("variable", ("SSL_CERT_FILE", "CURL_CA_BUNDLE"))
def test_authorities_are_named_by_the_environment(server, certificate, column, variable):
    environment = remote_files.environment(**{variable: certificate.authority})
    with mounted.Mounted(server.url("remote.root"), OPTIONS, environment=environment) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column


def test_authorities_of_the_grid(server, certificate, column, tmp_path):
    """A directory of certificates that are named by their hashes."""
    name = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", certificate.authority], capture_output=True,
                          text=True, check=True).stdout.strip()
    shutil.copy(certificate.authority, tmp_path / f"{name}.0")
    with mounted.Mounted(server.url("remote.root"), OPTIONS,
                         environment=remote_files.environment(X509_CERT_DIR=str(tmp_path))) as m:
        assert remote_files.read(os.path.join(m.path, COLUMN), 3) == column
