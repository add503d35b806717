# SPDX-License-Identifier: Apache-2.0
"""Files of HTTP servers that do as they should: what a mount shows is what it shows of the local file; and how often, and
for how much, it asks."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import awkward as ak
import numpy as np
import pytest
import uproot

import delayed_network
import remote_files
import faulty_server as faulty
import http_server
import metrics_page
import mounted

FILES = ("remote", "middle", "small", "tiny")
RTT_MS = 100
# A machine that is busy does not find at once what has arrived.
GENEROUS = 2.5


@pytest.fixture(scope="module")
def directory(samples, tmp_path_factory):
    """NAME.root with dates that a Last-Modified can tell: of whole seconds."""
    directory = tmp_path_factory.mktemp("served")
    for name in (*FILES, "wide"):
        shutil.copy(os.path.join(samples("remote"), name + ".root"), directory)
        os.utime(directory / f"{name}.root", (1_700_000_000, 1_700_000_000))
    return directory


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return http_server.make_certificate(tmp_path_factory.mktemp("certificate"), delayed_network.REMOTE_ADDRESS)


@pytest.fixture(scope="module")
def environment(certificate):
    return remote_files.environment(SSL_CERT_FILE=certificate.authority)


@pytest.fixture(scope="module")
def local(directory):
    """NAME -> {path: bytes} of a local mount."""
    found = {}
    for name in FILES:
        with mounted.Mounted(directory / f"{name}.root") as m:
            found[name] = remote_files.everything(m.path)
    return found


SERVERS = {
    "plain": dict(),
    "TLS": dict(tls=True),
    "one range": dict(max_ranges=1),
    "no ranges": dict(max_ranges=0),
}


@pytest.fixture(scope="module", params=SERVERS)
def nginx(request, directory, certificate):
    how = dict(SERVERS[request.param])
    if how.pop("tls", False):
        how["certificate"] = certificate
    with http_server.Nginx(directory, **how) as server:
        yield server


@pytest.fixture
def faulty_server(directory):
    """Which is right here: it counts waves."""
    with faulty.FaultyServer() as server:
        for name in (*FILES, "wide"):
            server.put(f"/{name}.root", (directory / f"{name}.root").read_bytes(), modified=1_700_000_000)
        yield server


def mounted_from(url, environment, *options, **more):
    return mounted.Mounted(url, options or ("timeout=10",), environment=environment, **more)


@pytest.mark.parametrize("name", FILES)
def test_all_of_a_file_is_as_if_it_were_here(nginx, environment, local, name):
    with mounted_from(nginx.url(name + ".root"), environment) as m:
        found = remote_files.everything(m.path)
        assert sorted(found) == sorted(local[name])
        assert [path for path in found if found[path] != local[name][path]] == []
        assert m.errors() == ""


def test_protocols(nginx, environment):
    """TLS comes with HTTP/2: many requests, one connection."""
    with mounted_from(nginx.url("remote.root"), environment) as m:
        nginx.forget_requests()
        for column in range(4):
            remote_files.read(os.path.join(m.path, f"events/x{column}.f8"), 10)
        requests = nginx.requests()
        assert requests
        if nginx.certificate:
            assert {request.protocol for request in requests} == {"HTTP/2.0"}
            assert len({request.connection for request in requests}) == 1


def test_a_server_without_several_ranges_is_asked_for_one_each(directory, environment):
    """Found out once. All of the file never comes."""
    with http_server.Nginx(directory, max_ranges=1) as server:
        with mounted_from(server.url("wide.root"), environment) as m:
            sizes = [entry.stat().st_size for entry in os.scandir(os.path.join(m.path, "events")) if entry.is_file()]
            assert len(sizes) >= 200
            remote_files.everything(os.path.join(m.path, "events", "list0"))
        requests = server.requests()
    assert sum(request.range_count > 1 for request in requests) <= 2
    assert sum(request.status == 200 and request.bytes > 1 << 20 for request in requests) <= 2


@pytest.mark.parametrize("command", (["ls"], ["ls", "-l"], ["ls", "-R"], ["ls", "-lR"], ["ls", "--json"], ["map"], ["check"]))
def test_commands(program, nginx, environment, directory, command):
    def run(source):
        done = subprocess.run([program, *command, source], capture_output=True, text=True, timeout=30, env=environment)
        told = done.stdout.replace(source, "SOURCE")
        if command == ["ls", "-R"]:
            # What columns take of a branch that they share is guessed from the lengths that are known by then.
            told = re.sub(r" +[\d.]+ k?B", " SIZE", told)
        return done.returncode, told, done.stderr.replace(source, "SOURCE")

    for name in FILES:
        here = run(str(directory / f"{name}.root"))
        assert here[0] == 0
        assert run(nginx.url(name + ".root")) == here


def test_ls_of_a_directory_within(program, nginx, environment, directory):
    for path in ("deep/er", "events"):
        here = subprocess.run([program, "ls", f"{directory}/remote.root/{path}"], capture_output=True, text=True, env=environment)
        there = subprocess.run([program, "ls", nginx.url(f"remote.root/{path}")], capture_output=True, text=True, env=environment)
        assert here.returncode == 0 and (there.returncode, there.stdout) == (0, here.stdout), there.stderr


def test_classes(program, nginx, environment, directory, tmp_path):
    made = {}
    for where, source in (("here", str(directory / "remote.root")), ("there", nginx.url("remote.root"))):
        subprocess.run([program, "classes", source, tmp_path / where], check=True, capture_output=True, timeout=30,
                       env=environment)
        made[where] = {path.name: path.read_text().replace(source, "SOURCE") for path in (tmp_path / where).iterdir()}
    assert made["here"] and made["here"] == made["there"]


def test_times_and_modes(nginx, environment, directory):
    with mounted_from(nginx.url("remote.root"), environment) as m, mounted.Mounted(directory / "remote.root") as here:
        for path in ("", "events", "events/x3.f8", "deep/er/h"):
            there, local = os.stat(os.path.join(m.path, path)), os.stat(os.path.join(here.path, path))
            assert (there.st_mode, there.st_size, there.st_mtime) == (local.st_mode, local.st_size, local.st_mtime), path


def test_the_names_of_the_mount(nginx, environment):
    """What tells where it comes from: the kernel's list and the configuration."""
    url = nginx.url("remote.root")
    with mounted_from(url, environment) as m:
        with open("/proc/self/mounts") as mounts:
            [line] = [line for line in mounts if line.split(" ")[1] == m.path]
        assert line.split(" ")[0] == url and line.split(" ")[2] == "fuse.tfilefs"
        with open(os.path.join(m.path, ".tfilefs/config.json")) as file:
            assert url in file.read()


def test_in_the_background(program, nginx, environment, local):
    """The client of HTTP begins its work after the fork."""
    point = tempfile.mkdtemp(prefix="tfilefs-test-")
    try:
        done = subprocess.run([program, nginx.url("remote.root"), point], capture_output=True, text=True, timeout=30,
                              env=environment)
        assert done.returncode == 0, done.stderr
        assert remote_files.read(os.path.join(point, "events", "x3.f8"), 10) == local["remote"]["events/x3.f8"]
        assert subprocess.run([program, "umount", point], timeout=30).returncode == 0
    finally:
        subprocess.run(["fusermount3", "-uz", point], capture_output=True)
        os.rmdir(point)


def test_names_that_a_url_has_to_quote(directory, environment, local):
    with faulty.FaultyServer() as server:
        content = (directory / "small.root").read_bytes()
        for path in ("/a%20b%23c.root", "/p%C3%A9.root", "/plus+.root", "/colon:8.root"):
            server.put(path, content)
            with mounted_from(server.url(path[1:]), environment) as m:
                assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["small"]["events/x3.f8"], path


def test_files_beside_the_url(samples, faulty_server, environment):
    """A branch that lies in another file; with the query string of the table's own."""
    here = samples("siblings")
    with mounted.Mounted(os.path.join(here, "main.root")) as m:
        expected = remote_files.everything(os.path.join(m.path, "t"))
    for name in ("main.root", "side.root"):
        with open(os.path.join(here, name), "rb") as file:
            faulty_server.put(f"/sub/{name}", file.read())
    with mounted_from(faulty_server.url("sub/main.root?key=1"), environment) as m:
        assert remote_files.everything(os.path.join(m.path, "t")) == expected
    assert {request.path for request in faulty_server.requests} == {"/sub/main.root?key=1", "/sub/side.root?key=1"}


def test_a_client_that_has_to_show_a_certificate(directory, certificate, environment, local, tmp_path):
    """An X.509 proxy: certificate and key in one file."""
    proxy = tmp_path / "proxy"
    proxy.write_bytes(b"".join(open(part, "rb").read() for part in (certificate.certificate, certificate.key)))
    settings = f"ssl_verify_client on; ssl_client_certificate {certificate.authority};"
    with http_server.Nginx(directory, certificate, settings=settings) as server:
        with mounted_from(server.url("small.root"), dict(environment, X509_USER_PROXY=str(proxy))) as m:
            assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["small"]["events/x3.f8"]
        with pytest.raises(mounted.MountFailed):
            with mounted_from(server.url("small.root"), environment):
                pass


@pytest.mark.parametrize("tls", (False, True), ids=("plain", "TLS"))
def test_a_server_that_ends_connections_often(directory, certificate, environment, local, tls):
    """Each takes three requests. HTTP/2 says so in a frame of its own."""
    how = dict(certificate=certificate if tls else None, settings="keepalive_requests 3;")
    with http_server.Nginx(directory, **how) as server, mounted_from(server.url("remote.root"), environment) as m:
        assert remote_files.everything(m.path) == local["remote"]
        assert m.errors() == ""


@pytest.mark.parametrize("tls", (False, True), ids=("plain", "TLS"))
def test_a_server_that_is_restarted(directory, certificate, environment, local, tls):
    how = dict(certificate=certificate if tls else None)
    with http_server.Nginx(directory, **how) as server, mounted_from(server.url("remote.root"), environment, "timeout=1") as m:
        first, second, third = (f"events/x{column}.f8" for column in (1, 9, 17))
        assert remote_files.read(os.path.join(m.path, first), 2) == local["remote"][first]
        server.stop()
        assert remote_files.read(os.path.join(m.path, second), 2) in ("EIO", "ETIMEDOUT")
        with http_server.Nginx(directory, port=server.port, **how):
            assert remote_files.read(os.path.join(m.path, second), 2) == local["remote"][second]
            assert remote_files.read(os.path.join(m.path, third), 2) == local["remote"][third]


def test_a_proxy(directory, environment, local):
    """Of the environment, as curl does it: it is told the whole URL."""
    url = "http://no-such-host.invalid/remote.root"
    with faulty.FaultyServer() as proxy:
        proxy.put(url, (directory / "remote.root").read_bytes())
        with mounted_from(url, dict(environment, http_proxy=proxy.url())) as m:
            assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["remote"]["events/x3.f8"]


def test_an_address_of_ipv6(directory, environment, local):
    try:
        server = faulty.FaultyServer(address="::1").__enter__()
    except OSError as error:
        pytest.skip(f"no IPv6: {error}")
    with server:
        server.put("/small.root", (directory / "small.root").read_bytes())
        with mounted_from(server.url("small.root"), environment) as m:
            assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["small"]["events/x3.f8"]


def test_other_names_of_the_schemes(faulty_server, directory, certificate, environment, local):
    with http_server.Nginx(directory, certificate) as nginx:
        with mounted_from(nginx.url("small.root").replace("https", "davs"), environment) as m:
            assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["small"]["events/x3.f8"]
    for scheme in ("dav", "HTTP"):
        url = faulty_server.url("small.root").replace("http", scheme)
        with mounted_from(url, environment) as m:
            assert remote_files.read(os.path.join(m.path, "events/x3.f8"), 10) == local["small"]["events/x3.f8"]


@pytest.mark.parametrize("lacks", ("HEAD", "suffixes", "suffixes in lists", "validators", "sizes of HEAD", "the end"))
def test_servers_that_cannot_do_all(faulty_server, environment, local, lacks):
    rules = {"HEAD": faulty.without_head, "suffixes": faulty.suffix_is_whole, "suffixes in lists": faulty.suffix_is_dropped,
             "validators": lambda exchange: False, "sizes of HEAD": faulty.head_has_size_only,
             "the end": faulty.promises_over_the_end}
    faulty_server.rule = rules[lacks]
    if lacks == "validators":
        faulty_server.tells = set()
    for name in FILES:
        with mounted_from(faulty_server.url(name + ".root"), environment) as m:
            assert remote_files.everything(m.path) == local[name]
            assert m.errors() == ""


def test_figures(nginx, environment):
    with mounted_from(nginx.url("remote.root"), environment) as m:
        remote_files.everything(m.path)
        with open(os.path.join(m.path, ".tfilefs/stats.json")) as file:
            [source] = json.load(file)["sources"]
        asked = nginx.requests()
        assert source["name"] == nginx.url("remote.root")
        for figure in ("requests", "ranges", "bytes", "retries", "redirects", "round_trips", "bytes_in_flight", "delay_us",
                       "bytes_per_second"):
            assert isinstance(source[figure], int) and source[figure] >= 0, figure
        metrics = {name: labels for name, labels, _ in metrics_page.samples(metrics_page.of_mount(m.path))}
        url = nginx.url("remote.root")
        for figure in ("requests_total", "round_trips_total", "redirects_total", "bytes_in_flight", "bytes_per_second",
                       "delay_seconds", "disk_hits_total"):
            assert metrics[f"tfilefs_source_{figure}"] == {"mount": m.path, "source": url, "url": url}
        assert 0 < source["requests"] <= len(asked)
        assert source["ranges"] >= source["requests"]
        assert source["bytes"] > 1_000_000


def test_round_trips_and_redirects_are_counted(faulty_server, environment):
    """Those of the server and those of stats.json are the same."""
    faulty_server.rule = waves = faulty.Waves()
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60", "prefetch=off") as m:
        def figures():
            with open(os.path.join(m.path, ".tfilefs/stats.json")) as file:
                [source] = json.load(file)["sources"]
            return source

        for path in ("x3.f8", "x100.f8"):
            assert remote_files.read(os.path.join(m.path, "events", path), 20)
        assert figures()["round_trips"] == waves.count, waves.sizes
        assert (figures()["redirects"], figures()["bytes_in_flight"]) == (0, 0)
    with faulty.FaultyServer() as other:
        other.rule = faulty.redirect(302, faulty_server.url("wide.root"))
        faulty_server.rule = lambda exchange: False
        with mounted_from(other.url("a.root"), environment, "recheck=60") as m:
            assert figures()["redirects"] == 2, "one for each end; then its target is asked"


# How often it asks.


def test_what_is_asked_at_the_opening(faulty_server, environment):
    """Both ends at once, then at most what they lead to."""
    for name in (*FILES, "wide"):
        faulty_server.rule = waves = faulty.Waves()
        with mounted_from(faulty_server.url(name + ".root"), environment):
            assert waves.count <= 3, (name, waves.sizes)
        assert waves.sizes[0] <= 2


def test_a_list_of_keys_in_the_midst_comes_with_what_it_names(samples, environment):
    """As in a file with a large StreamerInfo, or with bytes behind its end."""
    with open(os.path.join(samples("numbers"), "numbers-404.root"), "rb") as file, faulty.FaultyServer() as server:
        server.put("/a.root", file.read() + bytes(2_000_000))
        server.rule = waves = faulty.Waves()
        with mounted_from(server.url("a.root"), environment, "recheck=60", "prefetch=off") as m:
            assert {"n.i4", "s_O.b1"} < set(os.listdir(os.path.join(m.path, os.listdir(m.path)[0])))
            assert waves.count <= 2, waves.sizes


def test_all_rntuples_of_a_file_are_described_in_two_waves(environment, tmp_path):
    path = tmp_path / "many.root"
    with uproot.recreate(path) as file:
        for i in range(20):
            columns = {f"column{j}": np.random.default_rng(j).random(1000, "f4") for j in range(30)}
            file.mkrntuple(f"table{i}", columns)
    with faulty.FaultyServer() as server:
        server.put("/a.root", path.read_bytes())
        server.rule = waves = faulty.Waves()
        with mounted_from(server.url("a.root"), environment, "recheck=60", "prefetch=off") as m:
            opened = waves.count
            for i in range(20):
                assert len(os.listdir(os.path.join(m.path, f"table{i}"))) >= 30
            assert waves.count - opened <= 3, waves.sizes


def test_a_small_file_is_asked_for_once(faulty_server, environment, local):
    """Its ends are all of it."""
    with mounted_from(faulty_server.url("small.root"), environment, "recheck=60") as m:
        assert remote_files.everything(m.path) == local["small"]
        assert len(faulty_server.requests) <= 2
        assert all(request.method == "GET" for request in faulty_server.requests)


def test_a_listing_with_sizes_is_four_waves(faulty_server, environment):
    """Of a tree whose lists are told by headers of baskets all over the file: what the branches are, headers of one of
    them, those of all, and a basket of strings, whose lengths no header tells."""
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60") as m:
        os.listdir(os.path.join(m.path, "events"))
        faulty_server.rule = waves = faulty.Waves()
        done = subprocess.run(["ls", "-lR", os.path.join(m.path, "events")], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout.count("values.f4") >= 200
        assert waves.count <= 4, waves.sizes


@pytest.fixture(scope="module")
def nano(tmp_path_factory):
    """20 counters with 15 lists each, and 200 flags, in four clusters."""
    path = tmp_path_factory.mktemp("nano") / "nano.root"
    random = np.random.default_rng(4)
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        def part():
            columns = {f"flag{i}": random.random(1000) < 0.1 for i in range(200)}
            for c in range(20):
                counts = random.integers(0, 5, 1000)
                items = {f"f{i}": random.random(counts.sum(), dtype="f4") for i in range(15)}
                columns[f"C{c}"] = ak.zip({name: ak.unflatten(values, counts) for name, values in items.items()})
            return columns

        file["Events"] = part()
        for _ in range(3):
            file["Events"].extend(part())
    assert os.path.getsize(path) > 2 << 20
    return path


@pytest.mark.parametrize("kind", ("nano", "many branches", "PHYSLITE"))
def test_a_mount_and_all_its_names_and_sizes_are_five_waves(nano, samples, environment, kind):
    path = {"nano": nano, "many branches": os.path.join(samples("many_branches"), "many_branches.root"),
            "PHYSLITE": os.path.join(os.environ.get("TFILEFS_CORPUS", ""), "files", "coffea-PHYSLITE_example.root")}[kind]
    if not os.path.exists(path):
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    with faulty.FaultyServer() as server:
        with open(path, "rb") as file:
            server.put("/a.root", file.read())
        server.rule = waves = faulty.Waves()
        with mounted_from(server.url("a.root"), environment, "recheck=60") as m:
            opened = waves.count
            listed = subprocess.run(["ls", "-lR", m.path], capture_output=True, text=True, timeout=60)
            assert listed.returncode == 0 and listed.stdout.count("\n") > 500
        assert opened <= 2 and waves.count <= 5, (opened, waves.sizes)


def test_a_list_of_a_counted_table_is_one_wave(nano, environment):
    """Its headers, its values, and those of its counter; also of a second one, with the lengths of all others."""
    with faulty.FaultyServer() as server:
        server.put("/a.root", nano.read_bytes())
        with mounted_from(server.url("a.root"), environment, "recheck=60", "prefetch=off") as m:
            table = os.path.join(m.path, "Events")
            os.listdir(table)
            for column in ("C3/values/f2", "C7/values/f0", "C12/values/f9"):
                server.rule = waves = faulty.Waves()
                before = len(server.requests)
                assert remote_files.read(os.path.join(table, column + ".f4"), 20) != "ENOENT"
                assert (waves.count, len(server.requests) - before) == (1, 1), (column, waves.sizes)


@pytest.mark.parametrize("column", ("x3.f8", "list2/values.f4", "list2/offsets.i8", "text/chars.u1"))
def test_a_column_is_one_wave(faulty_server, environment, column):
    """Where its sizes are known."""
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60") as m:
        path = os.path.join(m.path, "events", column)
        os.stat(path)
        subprocess.run(["ls", "-lR", m.path], capture_output=True, timeout=60)
        faulty_server.rule = waves = faulty.Waves()
        data = remote_files.read(path, 20)
        assert len(data) == os.stat(path).st_size
        assert waves.count <= 1, waves.sizes


@pytest.mark.parametrize("column", ("x3.f8", "list2/values.f4", "list2/offsets.i8", "text/chars.u1"))
def test_a_column_that_nobody_looked_at(faulty_server, environment, column):
    """A look at its first entries, which tells what it is; its baskets, with their headers."""
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60") as m:
        os.listdir(os.path.join(m.path, "events"))
        faulty_server.rule = waves = faulty.Waves()
        assert remote_files.read(os.path.join(m.path, "events", column), 20)
        assert waves.count <= (1 if column == "x3.f8" else 2), waves.sizes


def test_a_second_list_does_not_bring_all_of_others(faulty_server, environment):
    """Of others come headers alone, which tell how long they are, and these once."""
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60", "prefetch=off") as m:
        for folder, _, _ in os.walk(os.path.join(m.path, "events")):  # what the branches are
            os.listdir(folder)
        asked = []
        for column in (0, 50, 100):
            faulty_server.forget_requests()
            assert remote_files.read(os.path.join(m.path, "events", f"list{column}", "values.f4"), 20)
            asked.append([last - first + 1 for request in faulty_server.requests for first, last in request.ranges])
        assert len(asked[0]) < 256 and len(asked[1]) < 8 and len(asked[2]) < 8, asked
        assert sum(map(sum, asked)) < 250 * 700 + 3 * (32 << 10)


def test_all_columns_one_after_another_are_few_requests(faulty_server, environment):
    """Whole columns; and one entry in a hundred of all of them, after one that was read whole."""
    for entry_by_entry in (False, True):
        with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60") as m:
            paths = [os.path.join(m.path, f"events/x{column}.f8") for column in range(200)]
            os.listdir(os.path.dirname(paths[0]))
            faulty_server.forget_requests()
            files = [os.open(path, os.O_RDONLY) for path in (paths if entry_by_entry else paths[:1])]
            assert len(os.pread(files[0], 12_800, 0)) == 12_800
            for entry in range(0, 1600, 100) if entry_by_entry else ():
                for file in files:
                    assert len(os.pread(file, 8, 8 * entry)) == 8
            for path in () if entry_by_entry else paths[1:]:
                with open(path, "rb") as column:
                    assert len(column.read()) == 12_800
            for file in files:
                os.close(file)
        assert len(faulty_server.requests) <= 5, [request.headers["range"][:100] for request in faulty_server.requests]


def test_columns_that_are_read_together_do_not_wait_for_each_other(faulty_server, environment):
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60") as m:
        os.listdir(os.path.join(m.path, "events"))
        faulty_server.rule = waves = faulty.Waves()
        paths = [os.path.join(m.path, f"events/x{column}.f8") for column in range(0, 200, 20)]
        readers = [subprocess.Popen(["cat", path], stdout=subprocess.DEVNULL) for path in paths]
        assert [reader.wait(30) for reader in readers] == [0] * len(readers)
        assert waves.count <= 3, waves.sizes


def test_columns_that_are_open_come_with_the_first_that_is_read(faulty_server, environment):
    """A program opens the columns that it wants, and then reads some entries of each, one after the other."""
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60") as m:
        os.listdir(os.path.join(m.path, "events"))
        faulty_server.forget_requests()
        faulty_server.rule = waves = faulty.Waves()
        files = [os.open(os.path.join(m.path, f"events/x{column}.f8"), os.O_RDONLY) for column in range(0, 200, 10)]
        try:
            for file in files:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
                assert len(os.pread(file, 80, 8000)) == 80
        finally:
            for file in files:
                os.close(file)
        assert waves.count == 1, waves.sizes
        assert len(faulty_server.requests) == 1


def test_small_baskets_of_columns_that_are_open_come_together(faulty_server, tmp_path, environment):
    """Entries of twenty columns in turn, from ten clusters of a kilobyte each: one request for what is
    read first, and one for the rest."""
    random = np.random.default_rng(5)
    values = {f"c{i}": random.random(1000) for i in range(20)}
    with uproot.recreate(tmp_path / "turns.root", compression=None) as file:
        tree = file.mktree("T", {"between": ("f8", (300,)), **dict.fromkeys(values, "f8")})
        for begin in range(0, 1000, 100):
            tree.extend({"between": random.random((100, 300)),
                         **{name: column[begin:begin + 100] for name, column in values.items()}})
    faulty_server.put("/turns.root", (tmp_path / "turns.root").read_bytes())
    with mounted_from(faulty_server.url("turns.root"), environment, "recheck=60") as m:
        os.listdir(os.path.join(m.path, "T"))
        faulty_server.forget_requests()
        files = {name: os.open(os.path.join(m.path, f"T/{name}.f8"), os.O_RDONLY) for name in values}
        for file in files.values():
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        for begin in range(0, 8000, 400):
            for name, file in files.items():
                assert os.pread(file, 400, begin) == values[name].tobytes()[begin:begin + 400]
        for file in files.values():
            os.close(file)
        assert len(faulty_server.requests) <= 2, [request.ranges for request in faulty_server.requests]


def test_what_a_column_costs(faulty_server, environment):
    """One of 200 columns does not bring the others along, beyond gaps that are read through."""
    with mounted_from(faulty_server.url("wide.root"), environment, "recheck=60", "prefetch=off", "readahead=16K") as m:
        path = os.path.join(m.path, "events/x3.f8")
        os.stat(path)
        faulty_server.forget_requests()
        size = len(remote_files.read(path, 10))
        asked = sum(last - first + 1 for request in faulty_server.requests for first, last in request.ranges)
        assert 0 < asked < 4 * size + (64 << 10)


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A column of 50 baskets of a kilobyte, with 20 times as much between them."""
    directory = tmp_path_factory.mktemp("apart")
    random = np.random.default_rng(5)
    with uproot.recreate(directory / "apart.root", compression=None) as file:
        tree = file.mktree("T", {"x": "f8", "between": ("f8", (20,))})
        for _ in range(50):
            tree.extend({"x": random.random(128), "between": random.random((128, 20))})
    return directory


@pytest.mark.parametrize("max_ranges, requests", ((None, 1), (1, 50)), ids=("several ranges", "streams"))
def test_ranges_that_lie_apart(apart, certificate, environment, max_ranges, requests):
    """One request, or as many streams of one connection. What lies between is not read."""
    with http_server.Nginx(apart, certificate, max_ranges) as server:
        with mounted_from(server.url("apart.root"), environment, "prefetch=off") as m:
            remote_files.read(os.path.join(m.path, "T/between.f8x20"), 10)  # what the server can do is known now
            server.forget_requests()
            assert len(remote_files.read(os.path.join(m.path, "T/x.f8"), 10)) == 50 * 128 * 8
            asked = server.requests()
    assert len(asked) <= requests, asked
    assert sum(request.range_count for request in asked) in range(35, 51)  # some lie at the end, which is held
    assert sum(request.bytes for request in asked) < 50 * 2000
    assert len({request.connection for request in asked}) == 1


@pytest.mark.alone
def test_single_ranges_without_streams_take_eight_connections(apart, environment):
    with http_server.Nginx(apart, max_ranges=1) as server:
        with mounted_from(server.url("apart.root"), environment, "prefetch=off") as m:
            remote_files.read(os.path.join(m.path, "T/between.f8x20"), 10)
            server.forget_requests()
            assert len(remote_files.read(os.path.join(m.path, "T/x.f8"), 10)) == 50 * 128 * 8
            asked = server.requests()
    assert len(asked) in range(35, 51)
    assert 1 < len({request.connection for request in asked}) <= 8


@pytest.mark.parametrize("encrypted", (False, True), ids=("plain", "streams"))
@pytest.mark.parametrize("requests", (1, 7))
def test_a_server_that_ends_connections_after_some_requests(apart, certificate, environment, encrypted, requests):
    """With GOAWAY, where requests are streams."""
    settings = f"keepalive_requests {requests};"
    with http_server.Nginx(apart, certificate if encrypted else None, max_ranges=1, settings=settings) as server:
        with mounted_from(server.url("apart.root"), environment, "prefetch=off") as m:
            assert len(remote_files.read(os.path.join(m.path, "T/x.f8"), 10)) == 50 * 128 * 8
            assert len(remote_files.read(os.path.join(m.path, "T/between.f8x20"), 10)) == 50 * 128 * 160
            assert m.errors() == ""


@pytest.fixture(scope="module")
def many_apart(tmp_path_factory):
    """A column of 1,200 baskets of 32 numbers, with 6 kB between them."""
    path = tmp_path_factory.mktemp("many") / "many.root"
    numbers, between = np.arange(32.0), np.zeros((32, 24))
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("T", {"x": "f8", "between": ("f8", (24,))}, initial_basket_capacity=1200)
        for part in range(1200):
            tree.extend({"x": numbers + 32 * part, "between": between})
    return path


@pytest.mark.alone
def test_a_request_has_as_many_ranges_as_servers_take(many_apart, environment):
    """A head of eight kilobytes."""
    with faulty.FaultyServer() as server:
        server.put("/many.root", many_apart.read_bytes())
        with mounted_from(server.url("many.root"), environment, "prefetch=off") as m:
            os.listdir(os.path.join(m.path, "T"))
            server.rule = waves = faulty.Waves()
            server.forget_requests()
            got = remote_files.read(os.path.join(m.path, "T/x.f8"), 10)
            assert got == np.arange(32.0 * 1200).tobytes()
        asked = [request.headers["range"] for request in server.requests]
    assert waves.count <= 2, waves.sizes  # `cat` reads 38 pages first
    assert sum(text.count("-") for text in asked) > 900
    assert max(text.count("-") for text in asked) <= 512 and max(map(len, asked)) <= 7000 + len("bytes=")


def test_a_server_of_single_ranges_that_falls_silent_is_given_up_once(many_apart, environment):
    """Not once for each of 1,200 ranges."""
    with faulty.FaultyServer() as server:
        server.put("/many.root", many_apart.read_bytes())
        server.rule = faulty.only_first_range
        with mounted_from(server.url("many.root"), environment, "prefetch=off", "timeout=1") as m:
            remote_files.read(os.path.join(m.path, "T/between.f8x24"), 10)
            server.rule = faulty.first_of(faulty.touching(0, 6_000_000, faulty.silent), faulty.only_first_range)
            server.forget_requests()
            assert remote_files.read(os.path.join(m.path, "T/x.f8"), 1) == "ETIMEDOUT"
            assert len(server.requests) < 100


def test_of_a_whole_file_no_more_is_taken_than_is_wanted(tmp_path, environment):
    path = tmp_path / "long.root"
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("T", {"x": "f8"})
        for part in range(40):
            tree.extend({"x": np.full(100_000, part, "f8")})
    content = path.read_bytes()
    with faulty.FaultyServer() as server:
        server.put("/long.root", content)
        server.rule = faulty.whole_file
        with mounted_from(server.url("long.root"), environment, "recheck=60", "prefetch=off") as m:
            def received():
                with open(os.path.join(m.path, ".tfilefs/stats.json")) as file:
                    [source] = json.load(file)["sources"]
                return source["bytes"]

            with open(os.path.join(m.path, "T/x.f8"), "rb", buffering=0) as column:
                os.posix_fadvise(column.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                before = received()
                assert os.pread(column.fileno(), 8, 800_000) == np.float64(1).tobytes()
                assert received() - before < 3 << 20 < len(content)


@pytest.fixture(scope="module")
def remote_network():
    with delayed_network.DelayedNetwork(RTT_MS) as network:
        yield network


def seconds(action):
    begin = time.monotonic()
    action()
    return time.monotonic() - begin


@pytest.mark.parametrize("tls", (False, True), ids=("plain", "TLS"))
def test_times_on_a_long_line(remote_network, directory, certificate, environment, tls):
    """The waves, in seconds of a user. Handshakes: one round trip for TCP, one for TLS 1.3. The first bytes of a connection
    come in small portions."""
    rtt = RTT_MS / 1000 * GENEROUS
    remote = dict(address=remote_network.remote_address, port=8443 if tls else 8080, prefix=remote_network.command("remote"))
    with http_server.Nginx(directory, certificate=certificate if tls else None, **remote) as server:
        begin = time.monotonic()
        with mounted_from(server.url("wide.root"), environment, "timeout=10", prefix=remote_network.command("near")) as m:
            opened = time.monotonic() - begin
            listed = seconds(lambda: os.listdir(os.path.join(m.path, "events")))
            sized = seconds(lambda: subprocess.run(["ls", "-lR", m.path], stdout=subprocess.DEVNULL, check=True))
            column = seconds(lambda: remote_files.read(os.path.join(m.path, "events/x3.f8"), 10))
            asked = server.requests()
        print(f"open {opened:.2f} list {listed:.2f} sizes {sized:.2f} column {column:.2f} s, {len(asked)} requests")
        # Growth of the first window: 256 KiB take four more round trips than one packet.
        assert opened < ((2 if tls else 1) + 3 + 4) * rtt
        assert listed < 2 * rtt
        assert sized < (1 + 4) * rtt
        assert column < (1 + 1) * rtt
