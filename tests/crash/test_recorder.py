# SPDX-License-Identifier: Apache-2.0
"""write_recorder.so: what it records of a small program, and each fault that it makes."""

import signal
import subprocess
import sys

import pytest

import recording


@pytest.fixture
def run(tmp_path):
    """run(code, fault=…) runs Python code in the directory, recorded; returns (exit status, output, operations)."""
    directory, log = tmp_path / "dir", tmp_path / "log"
    directory.mkdir()

    def action(code, **faults):
        environment = recording.environment(directory, log, **faults)
        result = subprocess.run(
            [sys.executable, "-c", "import errno, os\n" + code],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        operations = recording.read_log(log) if log.exists() else []
        return result.returncode, result.stdout.strip() + result.stderr.strip(), operations

    action.directory = directory
    return action


def test_calls_and_data_in_order(run):
    status, said, operations = run("""
file = os.open("a", os.O_RDWR | os.O_CREAT)
os.pwrite(file, b"hello", 100)
os.writev(file, [b"ab", b"cd"])
os.ftruncate(file, 50)
os.posix_fallocate(file, 0, 70)
os.fsync(file)
os.rename("a", "b")
os.link("b", "c")
os.mkdir("d")
directory = os.open(".", os.O_RDONLY)
os.fdatasync(directory)
os.unlink("b")
os.rmdir("d")
open("/dev/null", "w").write("elsewhere")
""")
    assert (status, said) == (0, "")
    assert [str(operation) for operation in operations] == [
        "open a",
        "write a @100+5",
        "write a @0+4",
        "resize a 50",
        "allocate a",
        "sync a",
        "rename a -> b",
        "link c",
        "mkdir d",
        "sync .",
        "unlink b",
        "rmdir d",
    ]
    assert operations[0].value == recording.CREATED and len({o.inode for o in operations[:8]}) == 1
    assert [operation.data for operation in operations[1:3]] == [b"hello", b"abcd"]
    assert int.from_bytes(operations[4].data, "little") == 70


def test_positions_of_plain_writes_and_appends(run):
    (run.directory / "a").write_bytes(b"x" * 10)
    _, said, operations = run("""
with open("a", "ab", buffering=0) as file:
    file.write(b"123")
with open("a", "r+b", buffering=0) as file:
    file.seek(4)
    file.write(b"45")
    file.write(b"6")
with open("a", "wb", buffering=0) as file:
    file.write(b"7")
""")
    assert said == ""
    assert [str(operation) for operation in operations] == [
        "open a",
        "write a @10+3",
        "open a",
        "write a @4+2",
        "write a @6+1",
        "open a",
        "resize a 0",
        "write a @0+1",
    ]
    assert operations[0].value == 0


def test_bytes_moved_by_the_kernel_are_seen(run):
    _, said, operations = run("""
source = os.open("../source", os.O_RDWR | os.O_CREAT)
os.write(source, b"0123456789")
file = os.open("a", os.O_RDWR | os.O_CREAT)
os.copy_file_range(source, file, 4, 2, 6)
os.lseek(source, 0, 0)
os.sendfile(file, source, 0, 3)
""")
    assert said == ""
    assert [(o.offset, o.data) for o in operations[1:]] == [(6, b"2345"), (0, b"012")]


def test_shared_mapping_is_reported(run):
    _, said, operations = run("""
import mmap
file = os.open("a", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 4096)
mmap.mmap(file, 4096)[0] = 1
""")
    assert said == ""
    assert operations[-1].kind == recording.MAPPING


WRITE_LOOP = """
file = os.open("a", os.O_RDWR | os.O_CREAT)
taken = []
try:
    for _ in range(5):
        taken.append(os.write(file, b"x" * 1000))
except OSError as error:
    taken.append(errno.errorcode[error.errno])
print(*taken)
"""


def test_no_space_after_some_bytes(run):
    _, said, _ = run(WRITE_LOOP, no_space_after=2500)
    assert said == "1000 1000 500 ENOSPC"
    assert (run.directory / "a").stat().st_size == 2500


def test_a_quota_after_some_bytes(run):
    _, said, _ = run(WRITE_LOOP, quota_after=2500)
    assert said == "1000 1000 500 EDQUOT"


def test_space_counts_growth_and_what_is_given_back(run):
    _, said, _ = run(
        """
file = os.open("a", os.O_RDWR | os.O_CREAT)
os.posix_fallocate(file, 0, 2000)
print(os.pwrite(file, b"x" * 2000, 0), os.pwrite(file, b"x" * 2000, 0), end=" ")
try:
    os.posix_fallocate(file, 2000, 1000)
except OSError as error:
    print(errno.errorcode[error.errno], end=" ")
os.ftruncate(file, 0)
print(os.pwrite(file, b"x" * 2500, 0), end=" ")
os.unlink("a")
print(os.pwrite(os.open("b", os.O_RDWR | os.O_CREAT), b"x" * 3000, 0))
""",
        no_space_after=2500,
    )
    assert said == "2000 2000 ENOSPC 2500 2500"


def test_failing_sync(run):
    _, said, operations = run(
        """
file = os.open("a", os.O_RDWR | os.O_CREAT)
for sync in os.fsync, os.fdatasync, os.fsync:
    try:
        sync(file)
        print("ok", end=" ")
    except OSError as error:
        print(errno.errorcode[error.errno], end=" ")
""",
        fail_sync=2,
    )
    assert said == "ok EIO ok"
    assert [operation.error != 0 for operation in operations[1:]] == [False, True, False]


def test_short_writes(run):
    assert run(WRITE_LOOP, short_write=2)[1] == "1000 500 1000 1000 1000"
    assert run(WRITE_LOOP, short_write="all")[1] == "500 500 500 500 500"


@pytest.mark.parametrize("call", range(1, 7))
def test_kill_in_place_of_each_call(run, call):
    status, _, operations = run(WRITE_LOOP, kill=call)
    assert status == -signal.SIGKILL
    assert len([operation for operation in operations if operation.is_counted()]) == call - 1
    size = (run.directory / "a").stat().st_size if call > 1 else 0
    assert size == max(0, call - 2) * 1000


def test_skipped_sync(run):
    code = 'a, b = [os.open(n, os.O_RDWR | os.O_CREAT) for n in ("a", "b.log")]\n' + "os.fsync(a); os.fsync(b)\n" * 2
    for choice, skipped in ("*", "ab"), ("*.log", "b"), ("a:2", "a"), ("*:3", "a"):
        before = len(run("")[2])
        operations = run(code, skip_sync=choice)[2][before:]
        names = "".join(operation.path[0] for operation in operations if operation.kind == recording.SKIPPED_SYNC)
        assert names == (skipped * 2 if ":" not in choice else skipped), choice
