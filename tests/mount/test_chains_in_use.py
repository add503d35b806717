# SPDX-License-Identifier: Apache-2.0
"""What becomes of a chain while it is read: files that are replaced, lost, opened and closed, and what is loaded
ahead."""

import concurrent.futures
import errno
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import time

import awkward
import numpy as np
import pytest
import ROOT
import xxhash

import remote_files
import http_server
import mounted
from test_chains import chain_json, put, values

ENTRIES = 100_000
SIZE = 4 * ENTRIES  # of the column in a file


@pytest.fixture
def three(tmp_path):
    """Three files of numbers that do not compress, and the numbers."""
    numbers = [np.random.default_rng(number).integers(0, 1 << 30, ENTRIES).astype("i4") for number in range(3)]
    paths = [str(tmp_path / f"f{number}.root") for number in range(3)]
    for path, column in zip(paths, numbers):
        put(path, t={"x": column})
    return paths, numbers


def middle(file, numbers, number):
    """Whether what lies in the middle of a file's entries is right; or the errno. Not from the kernel's pages."""
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    try:
        return os.pread(file.fileno(), 4096, SIZE * number + SIZE // 2) == numbers[number][ENTRIES // 2 :][:1024].tobytes()
    except OSError as error:
        return error.errno


# ---- files that change


@pytest.mark.parametrize("how", ["replaced", "overwritten"])
def test_what_is_open_of_a_file_that_changes_is_stale(how, three, tmp_path, mount):
    paths, numbers = three
    m = mount(paths, "chain,prefetch=off")
    column = os.path.join(m.path, "t", "x.i4")
    with open(column, "rb", buffering=0) as before:
        assert middle(before, numbers, 1) is True
        put(tmp_path / "new.root", t={"x": np.array([70, 80], "i4")})
        if how == "replaced":
            os.rename(tmp_path / "new.root", paths[1])
        else:
            shutil.copyfile(tmp_path / "new.root", paths[1])
        size = 2 * SIZE + 8
        assert remote_files.becomes(size, lambda: mounted.outcome(lambda: os.stat(column).st_size), 20) == size
        assert remote_files.becomes(errno.ESTALE, lambda: middle(before, numbers, 1), 20) == errno.ESTALE
        assert middle(before, numbers, 0) is True and middle(before, numbers, 2) is True
        with open(column, "rb", buffering=0) as after:
            assert len(after.readall()) == size


@pytest.mark.parametrize("how", ["cut", "removed", "no ROOT file"])
def test_a_file_that_is_none_any_more_fails_alone(how, three, tmp_path, mount):
    """What was there of the chain stays; when the file is there again, all is."""
    paths, numbers = three
    shutil.copyfile(paths[1], tmp_path / "kept")
    m = mount(paths, "chain,prefetch=off,recheck=0")
    column = os.path.join(m.path, "t", "x.i4")
    if how == "cut":
        os.truncate(paths[1], 1000)
    elif how == "removed":
        os.remove(paths[1])
    else:
        (tmp_path / "text").write_text("no ROOT file\n" * 1000)
        os.rename(tmp_path / "text", paths[1])
    for _ in range(3):
        time.sleep(0.3)
        assert os.listdir(m.path) == ["t"] and os.stat(column).st_size == 3 * SIZE
        with open(column, "rb", buffering=0) as file:
            assert middle(file, numbers, 0) is True and middle(file, numbers, 2) is True
            assert middle(file, numbers, 1) in (errno.EIO, errno.ENOENT, errno.ESTALE)
    if how != "removed":
        assert "f1.root: cannot be read now" in m.errors()
    os.rename(tmp_path / "kept", paths[1])

    def again():
        with open(column, "rb", buffering=0) as file:
            return middle(file, numbers, 1)

    assert remote_files.becomes(True, again, 20) is True


# ---- files that are opened and closed


def opened_files(m, directory):
    """Names of files of the directory that the daemon has open."""
    found = set()
    for descriptor in os.scandir(f"/proc/{m.process.pid}/fd"):
        target = mounted.outcome(lambda: os.readlink(descriptor.path))
        if isinstance(target, str) and os.path.dirname(target) == str(directory):
            found.add(os.path.basename(target))
    return found


def linked(directory, count, **columns):
    """So many names of one file."""
    put(directory / "f000.root", t=columns)
    for number in range(1, count):
        os.link(directory / "f000.root", directory / f"f{number:03d}.root")


def test_files_close_by_age(tmp_path, mount):
    """A page of each file is read, one after the other."""
    count, page = 150, np.arange(1024, dtype="i4")
    linked(tmp_path, count, x=page, y=page)
    m = mount(tmp_path, "chain,prefetch=off", prefix=["prlimit", "--nofile=256:256"])
    with open(os.path.join(m.path, "t", "x.i4"), "rb", buffering=0) as x, open(os.path.join(m.path, "t", "y.i4"), "rb", buffering=0) as y:
        for file in (x, y):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for number in range(count):
            assert os.pread(x.fileno(), 4096, 4096 * number) == page.tobytes()
        opened = sorted(opened_files(m, tmp_path))
        assert 16 <= len(opened) <= 64
        assert opened == [f"f{number:03d}.root" for number in range(count - len(opened), count)]
        assert os.pread(y.fileno(), 4096, 0) == page.tobytes()
        assert opened_files(m, tmp_path) == {*opened[1:], "f000.root"}


def test_few_descriptors(tmp_path, mount):
    """As `ulimit -n 64`. Several readers are at it."""
    count = 150
    linked(tmp_path, count, x=np.arange(3, dtype="i4"), l=awkward.values_astype(awkward.Array([[0.5], [], [1.5, 2.5]]), "f4"))
    m = mount([f"{tmp_path}/f*.root"], "chain", prefix=["prlimit", "--nofile=64:64"])
    table = os.path.join(m.path, "t")
    columns = [os.path.join(table, name) for name in ("x.i4", "l/values.f4", "l/offsets.i8", ".file.u4")]
    sizes = [12 * count, 12 * count, 8 * (3 * count + 1), 12 * count]
    assert [os.stat(column).st_size for column in columns] == sizes
    readers = [subprocess.Popen(["cat", path], stdout=subprocess.PIPE) for path in [*columns, table + ".csv", table + ".arrow"] * 2]
    read = [len(reader.communicate(timeout=120)[0]) for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * len(readers)
    assert read[:4] == sizes and read[:6] == read[6:]
    assert "Too many open files" not in m.errors()


def test_a_descriptor_is_waited_for(tmp_path, mount):
    """Without one left, what is asked for is answered when another is closed: as `ulimit -n` and many readers at once."""
    linked(tmp_path, 3, x=np.arange(3, dtype="i4"))
    os.mkdir(tmp_path / "sub")
    (tmp_path / "sub" / "plain.txt").write_text("plain")
    os.link(tmp_path / "f000.root", tmp_path / "sub" / "alone.root")
    chain, tree = mount([f"{tmp_path}/f*.root"], "chain"), mount(tmp_path)
    numbers = np.arange(3, dtype="<i4")
    asked = {
        f"{chain.path}/t/x.i4": np.tile(numbers, 3).tobytes(),
        f"{chain.path}/.files/000001-f001.root/t/x.i4": numbers.tobytes(),
        f"{tree.path}/f001.root/t/x.i4": numbers.tobytes(),
        f"{tree.path}/sub/alone.root/t/x.i4": numbers.tobytes(),
        f"{tree.path}/sub/plain.txt": b"plain",
    }
    listed = {f"{tree.path}/sub": ["alone.root", "plain.txt"], f"{chain.path}/.files": [f"{n:06d}-f{n:03d}.root" for n in range(3)]}
    for m in (chain, tree):
        resource.prlimit(m.process.pid, resource.RLIMIT_NOFILE, (3, resource.prlimit(m.process.pid, resource.RLIMIT_NOFILE)[1]))
    with concurrent.futures.ThreadPoolExecutor(len(asked) + len(listed)) as pool:
        bytes_read = {path: pool.submit(mounted.outcome, pathlib.Path(path).read_bytes) for path in asked}
        names = {path: pool.submit(mounted.outcome, lambda path=path: sorted(os.listdir(path))) for path in listed}
        time.sleep(0.3)
        for m in (chain, tree):
            resource.prlimit(m.process.pid, resource.RLIMIT_NOFILE, (256, 256))
        assert {path: future.result() for path, future in bytes_read.items()} == asked
        assert {path: future.result() for path, future in names.items()} == listed


def test_what_was_learnt_of_a_file_does_not_change_it(tmp_path, mount):
    """The bytes of a list are divided among its columns by their lengths, once these are known."""
    lists = awkward.values_astype(awkward.Array([[0.5], [], [1.5, 2.5]]), "f4")
    linked(tmp_path, 3, l=lists, x=np.arange(3, dtype="i4"))
    m = mount([f"{tmp_path}/f*.root"], "chain")
    for file in sorted(os.listdir(os.path.join(m.path, ".files"))):
        for column in ("offsets.i8", "values.f4"):
            pathlib.Path(m.path, ".files", file, "t", "l", column).read_bytes()
    read = lambda name: pathlib.Path(m.path, "t", name).read_bytes()
    assert read("x.i4") == np.tile(np.arange(3, dtype="<i4"), 3).tobytes()
    assert read("l/values.f4") == np.tile(np.asarray([0.5, 1.5, 2.5], "<f4"), 3).tobytes()


def test_unmounting_while_it_is_read(three):
    """Locally, and of a server that is slow: the daemon ends, and the readers do."""
    paths, _ = three
    with http_server.Nginx(os.path.dirname(paths[0]), settings="limit_rate 100k;") as server:
        for sources in (paths, [server.url(os.path.basename(path)) for path in paths]):
            m = mounted.Mounted(sources, ["chain"])
            readers = [subprocess.Popen(["cat", os.path.join(m.path, "t", "x.i4")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                       for _ in range(3)]
            time.sleep(0.2)
            m.process.send_signal(signal.SIGTERM)
            assert m.process.wait(60) == 0
            for reader in readers:
                reader.wait(60)
            m.close()


# ---- what is loaded ahead


def served(directory):
    for path in directory.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return http_server.Nginx(directory)


def loaded(m, server, column, place):
    """Whether a page can be read without the server."""
    server.stop()
    with open(os.path.join(m.path, "t", column), "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        return not isinstance(mounted.outcome(lambda: os.pread(file.fileno(), 4096, place)), int)


def test_a_reader_finds_the_next_file_open(tmp_path):
    """The file behind the border is asked for before the reader comes to it."""
    entries = 500_000  # 4 MB, of which the kernel asks for one or two ahead of a reader
    for number in range(2):
        put(tmp_path / f"f{number}.root", t={"x": np.random.default_rng(number).normal(size=entries)})
    with served(tmp_path) as server:
        asked = lambda: {request.path for request in server.requests()}
        for prefetch, wanted in (("off", {"/f0.root"}), ("learn", {"/f0.root", "/f1.root"})):
            with mounted.Mounted([server.url(f"f{number}.root") for number in range(2)], [f"chain,prefetch={prefetch}"]) as m:
                with open(os.path.join(m.path, "t", "x.f8"), "rb", buffering=0) as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # the kernel asks for what is read alone
                    server.forget_requests()
                    for block in range(24):
                        assert len(os.pread(file.fileno(), 128 << 10, block * (128 << 10))) == 128 << 10
                    assert remote_files.becomes(wanted, asked, 10) == wanted


def test_what_is_used_together_is_learnt_from_file_to_file(tmp_path):
    """x and y were read together in four files and more; a reader of x in the next one brings y along, and nothing else."""
    entries, files = 20_000, 8
    for number in range(files):
        random = np.random.default_rng(number)
        put(tmp_path / f"f{number}.root", t={name: random.normal(size=entries) for name in "xzy"})
    place = lambda number: 8 * entries * number + 40_960
    for other, wanted in (("y.f8", True), ("z.f8", False)):
        with served(tmp_path) as server:
            urls = [server.url(f"f{number}.root") for number in range(files)]
            with mounted.Mounted(urls, ["chain,timeout=1,recheck=60"]) as m:
                columns = {name: open(os.path.join(m.path, "t", name + ".f8"), "rb", buffering=0) for name in "xyz"}
                for file in columns.values():
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                assert len(os.pread(columns["z"].fileno(), 4096, place(0))) == 4096
                for number in range(1, 7):
                    for name in "xy" if number < 6 else "x":
                        assert len(os.pread(columns[name].fileno(), 4096, place(number))) == 4096
                server.requests()  # until no more come
                for file in columns.values():
                    file.close()
                assert loaded(m, server, other, place(6)) is wanted


# ---- facts that are kept


def test_a_remote_chain_is_known_to_the_disk(tmp_path):
    """A second mount asks for little more than whether each file is the same. What is wrong with the cache costs
    requests, never a byte."""
    files = 8
    (tmp_path / "files").mkdir()
    random = np.random.default_rng(1)
    wanted = [random.integers(0, 1 << 30, 20_000).astype("i4") for _ in range(files)]
    for number, column in enumerate(wanted):
        put(tmp_path / "files" / f"f{number}.root", t={"x": column})
    cache = tmp_path / "cache"
    all_of = lambda: np.concatenate(wanted).tobytes()
    with served(tmp_path / "files") as server:
        urls = [server.url(f"f{number}.root") for number in range(files)]

        def read():
            server.forget_requests()
            with mounted.Mounted(urls, [f"chain,diskcache={cache}"]) as m:
                assert remote_files.read(os.path.join(m.path, "t", "x.i4"), 30) == all_of()
                assert os.listdir(os.path.join(m.path, "t")) == ["x.i4"]
            return server.requests()

        first = sum(request.bytes for request in read())
        again = read()
        assert len(again) <= 2 * files and sum(request.bytes for request in again) < first / 20
        # Damaged, cut, and of nobody: each in another file.
        kept = sorted(cache.glob("**/*.tfc"))
        assert len(kept) == files
        with open(kept[0], "r+b") as file:
            file.seek(os.path.getsize(kept[0]) // 2)
            file.write(b"damaged" * 100)
        os.truncate(kept[1], os.path.getsize(kept[1]) // 3)
        os.truncate(kept[2], 0)
        os.chmod(kept[3], 0)
        kept[4].write_bytes(os.urandom(5000))
        assert read() is not None
        # A file that changed, and a mount that was killed in the middle of it.
        wanted[3] = np.arange(5, dtype="i4")
        put(tmp_path / "files" / "f3.root", t={"x": wanted[3]})
        os.utime(tmp_path / "files" / "f3.root", (1_700_000_100, 1_700_000_100))
        m = mounted.Mounted(urls, [f"chain,diskcache={cache}"])
        subprocess.run(["head", "-c", "100000", os.path.join(m.path, "t", "x.i4")], stdout=subprocess.DEVNULL, timeout=60)
        m.process.kill()
        m.close()
        assert len(read()) <= 5 * files
        assert len(read()) <= 2 * files


def test_an_index_that_is_too_large_is_not_read(tmp_path, mount):
    put(tmp_path / "f.root", t={"x": np.arange(3, dtype="i4")})
    index = tmp_path / "index"
    with mounted.Mounted(tmp_path / "f.root", [f"chain,index={index}"]):
        pass
    os.truncate(index, 8 << 30)
    m = mount(tmp_path / "f.root", f"chain,index={index}")
    assert values(os.path.join(m.path, "t", "x.i4")) == [0, 1, 2]
    assert "not a chain index, or a damaged one" in m.errors() and m.peak_bytes() < 1 << 30


def entries_in_index(index, was, becomes):
    """Every table of `was` entries has others; the checksum is right."""
    with open(index, "rb") as file:
        content = file.read()[:-8]
    # A number of one byte in CBOR, then the clusters as a binary string.
    number = lambda entries: b"\x18" + bytes([entries]) + b"\x50"
    assert content.count(number(was)) == 1
    content = content.replace(number(was), number(becomes))
    with open(index, "wb") as file:
        file.write(content + struct.pack("<Q", xxhash.xxh3_64_intdigest(content)))


def test_an_index_that_says_something_wrong(tmp_path, mount):
    """What is read is right, or ESTALE for those who came before the file was opened."""
    put(tmp_path / "a.root", t={"x": np.arange(100, dtype="i4")})
    put(tmp_path / "b.root", t={"x": np.arange(100, 203, dtype="i4")})
    index = tmp_path / "index"
    sources = [tmp_path / "a.root", tmp_path / "b.root"]
    with mounted.Mounted(sources, [f"chain,index={index}"]):
        pass
    entries_in_index(index, 100, 50)
    m = mount(sources, f"chain,index={index}")
    path = os.path.join(m.path, "t", "x.i4")
    seen, deadline = [], time.monotonic() + 20
    while seen[-1:] != ["right"] and time.monotonic() < deadline:
        got = remote_files.read(path, 10)
        seen.append("right" if got == np.arange(203, dtype="<i4").tobytes() else got)
    assert set(seen) <= {"right", "ESTALE"} and seen[-1] == "right", seen


def test_an_index_that_others_may_write_is_not_believed(tmp_path, mount):
    put(tmp_path / "f.root", t={"x": np.arange(100, dtype="i4")})
    index = tmp_path / "index"
    with mounted.Mounted(tmp_path / "f.root", [f"chain,index={index}"]):
        pass
    entries_in_index(index, 100, 50)
    os.chmod(index, 0o666)
    m = mount(tmp_path / "f.root", f"chain,index={index}")
    assert values(os.path.join(m.path, "t", "x.i4")) == list(range(100))
    assert str(index) in m.errors() and "others may write to it" in m.errors()
    assert os.stat(index).st_mode & 0o777 == 0o600  # made anew


# ---- friends, tables, patterns


def test_friends_that_name_each_other_in_a_chain(tmp_path, mount):
    """a0 and a1 name b0 and b1, which name a0 and a1; and each names itself."""
    for run in range(2):
        for name, other in (("a", "b"), ("b", "a")):
            file = ROOT.TFile(str(tmp_path / f"{name}{run}.root"), "RECREATE")
            tree = ROOT.TTree("t", "t")
            number = np.zeros(1, "i4")
            tree.Branch("x" + name, number, f"x{name}/I")
            for entry in range(3):
                number[0] = entry + 10 * run
                tree.Fill()
            level, ROOT.gErrorIgnoreLevel = ROOT.gErrorIgnoreLevel, ROOT.kFatal  # the other file comes later
            tree.AddFriend("other = t", f"{other}{run}.root")
            tree.AddFriend("own = t", f"{name}{run}.root")
            ROOT.gErrorIgnoreLevel = level
            tree.Write()
            file.Close()
    m = mount([f"{tmp_path}/a*.root"], "chain")
    friends = os.path.join(m.path, "t", ".friends")
    wanted = [0, 1, 2, 10, 11, 12]
    assert sorted(os.listdir(friends)) == ["other", "own"]
    assert values(os.path.join(friends, "other", "xb.i4")) == wanted
    assert values(os.path.join(friends, "own", "xa.i4")) == wanted
    assert not os.path.exists(os.path.join(friends, "other", ".friends"))
    m = mount([f"{tmp_path}/[ab]*.root"], "chain=union")
    assert values(os.path.join(m.path, "t", ".friends", "own", "xa")) == [[x] for x in wanted] + [[]] * 6


@pytest.mark.parametrize("at", range(3))
def test_a_table_without_branches_and_one_without_a_branch(at, tmp_path, mount):
    """At the beginning, in the middle, and at the end."""
    paths = [str(tmp_path / f"f{number}.root") for number in range(3)]
    for number, path in enumerate(paths):
        some = {"y": np.array([number], "i4")} if number != at else {"other": np.array([0.5])}
        trees = {"gap": {"x": np.array([number, number], "i4"), **some}}
        if number != at:
            trees["t"] = {"x": np.array([number, 10 + number], "i4")}
        put(path, **{name: {**{key: np.resize(column, 2) for key, column in columns.items()}} for name, columns in trees.items()})
    file = ROOT.TFile(paths[at], "UPDATE")
    ROOT.TTree("t", "no branches").Write()
    file.Close()
    own = [number for number in range(3) if number != at]
    for option, columns in (("chain", ["x.i4"]), ("chain=union", ["other", "x.i4", "y"])):
        m = mount(paths, option)
        assert values(os.path.join(m.path, "t", "x.i4")) == [x for number in own for x in (number, 10 + number)]
        table = next(table for table in chain_json(m)["tables"] if table["path"] == "t")
        assert table["without"] == [at]
        assert np.fromfile(os.path.join(m.path, "t", ".file.u4"), "<u4").tolist() == [number for number in own for _ in "12"]
        assert sorted(os.listdir(os.path.join(m.path, "gap"))) == columns
        assert values(os.path.join(m.path, "gap", "x.i4")) == [0, 0, 1, 1, 2, 2]
    assert values(os.path.join(m.path, "gap", "y")) == [[number] if number != at else [] for number in range(3) for _ in "12"]
    with pytest.raises(mounted.MountFailed) as refused:
        mount(paths, "chain=strict")
    assert paths[max(at, 1)] in refused.value.message  # the first that is not as the first file


def test_patterns_of_remote_names(tmp_path):
    for number in range(4):
        put(tmp_path / f"f{number}.root", t={"x": np.array([number], "i4")})
    put(tmp_path / "a b#1.root", t={"x": np.array([9], "i4")})
    with http_server.Nginx(tmp_path, settings="autoindex on; autoindex_format json;") as server:
        for pattern, wanted in (("f?.root", [0, 1, 2, 3]), ("f{3,1}.root", [1, 3]), ("{f[02],a*1}.root", [9, 0, 2]), ("f{0,{2,3}}.root?#t", [0, 2, 3]),
                                ("f?.root:t", [0, 1, 2, 3]), ("a%20b%231.root", [9])):
            with mounted.Mounted(server.url(pattern), ["chain"]) as m:
                assert values(os.path.join(m.path, "t", "x.i4")) == wanted, pattern
        with pytest.raises(mounted.MountFailed) as refused:
            mounted.Mounted(server.url("g{0,1}.root"), ["chain"])
        assert "no file matches" in refused.value.message


def test_files_without_entries(tmp_path, mount):
    """At the beginning, in the middle, at the end, and no others."""
    entries = (0, 2, 0, 0, 3, 0)
    paths = [str(tmp_path / f"f{number}.root") for number in range(len(entries))]
    for path, count in zip(paths, entries):
        lists = awkward.unflatten(np.arange(count, dtype="f4"), np.ones(count, "i8"))
        put(path, t={"x": np.arange(count, dtype="i4"), "l": awkward.values_astype(lists, "f4")})
    for chosen, wanted in ((paths, [0, 1, 0, 1, 2]), (paths[2:4], []), (paths[:1], [])):
        with mounted.Mounted(chosen, ["chain"]) as m:
            table = os.path.join(m.path, "t")
            assert np.fromfile(os.path.join(table, "x.i4"), "<i4").tolist() == wanted
            assert values(os.path.join(table, "l")) == [[float(value)] for value in wanted]
            assert np.fromfile(os.path.join(table, "l", "offsets.i8"), "<i8").tolist() == list(range(len(wanted) + 1))
            import pyarrow.parquet

            assert pyarrow.parquet.read_table(table + ".parquet").num_rows == len(wanted)


def test_lists_that_multiply_are_refused(tmp_path):
    """Each of six names the next one twenty times."""
    put(str(tmp_path / "f.root"), t={"x": np.zeros(3, "i4")})
    for level in range(6):
        (tmp_path / f"list{level}").write_text("f.root\n" if level == 5 else f"@list{level + 1}\n" * 20)
    with pytest.raises(mounted.MountFailed) as refused:
        mounted.Mounted(f"@{tmp_path}/list0", ["chain"]).__enter__()
    assert "more than 10,000 lists" in refused.value.message
