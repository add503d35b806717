#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""restricted.py UNIT COMMAND...: runs a command as a unit of systemd restricts it, where there is no systemd: capabilities,
new privileges, system calls, address families, memory that is written and executed. A call that is not allowed kills the
process, so that none goes unnoticed."""

import ctypes
import functools
import os
import platform
import re
import struct
import subprocess
import sys

PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 24, 38, 2
ALLOW, KILL = 0x7FFF0000, 0x80000000
LOAD, EQUAL, SET, RETURN = 0x20, 0x15, 0x45, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_JMP|BPF_JSET|BPF_K, BPF_RET
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PROT_WRITE, PROT_EXEC, SHM_EXEC = 2, 4, 0o100000


def settings(unit):
    """{name: [value, ...]} of a unit."""
    found = {}
    with open(unit, encoding="utf-8") as file:
        for name, value in re.findall(r"^(\w+)=(.*)$", file.read(), re.MULTILINE):
            found.setdefault(name, []).append(value)
    return found


@functools.cache
def defined(header, prefix):
    """{name: number} of a header of the system."""
    text = subprocess.run(["cc", "-E", "-dM", "-include", header, "-x", "c", "/dev/null"], capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(rf"^#define {prefix}(\w+) (\d+)$", text, re.MULTILINE)}


def members(group):
    """The calls of a group, as systemd knows them."""
    text = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True).stdout
    found = set()
    for name in re.findall(r"^    (@?\w[\w-]*)$", text, re.MULTILINE):
        found |= members(name) if name.startswith("@") else {name}
    return found


def allowed_calls(unit):
    """Names of system calls; none: all are allowed."""
    allowed = set()
    for value in settings(unit).get("SystemCallFilter", []):
        names = set().union(*(members(name) if name.startswith("@") else {name} for name in value.removeprefix("~").split()))
        allowed = allowed - names if value.startswith("~") else allowed | names | members("@default")
    return allowed


def step(code, value, if_true=0, if_false=0):
    return struct.pack("=HBBI", code, if_true, if_false, value)


def load_filter(steps):
    """Each runs to its end for each call; what one kills is killed."""
    head = [step(LOAD, ARCHITECTURE), step(EQUAL, ARCHITECTURES[platform.machine()], 1), step(RETURN, KILL), step(LOAD, NUMBER)]
    program = b"".join(head + steps)
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = ctypes.create_string_buffer(struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(buffer)))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(fprog))


def prctl(*arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(*map(ctypes.c_ulong, arguments)) != 0:
        raise OSError(ctypes.get_errno(), f"prctl{arguments}")


def allow_calls(names):
    numbers = defined("sys/syscall.h", "__NR_")
    steps = []
    for number in sorted(numbers[name] for name in names if name in numbers):
        steps += [step(EQUAL, number, 0, 1), step(RETURN, ALLOW)]
    load_filter([*steps, step(RETURN, KILL)])


def argument(at):
    """The lower half of an argument of a call, on a little-endian machine."""
    return step(LOAD, ARGUMENTS + 8 * at)


def allow_families(names):
    families = [getattr(__import__("socket"), name) for name in names]
    checks = []
    for family in families:
        checks += [step(EQUAL, family, 0, 1), step(RETURN, ALLOW)]
    other = [step(RETURN, KILL)]
    load_filter([step(EQUAL, defined("sys/syscall.h", "__NR_")["socket"], 0, 1 + len(checks) + 1), argument(0), *checks, *other,
                 step(RETURN, ALLOW)])


def deny_write_and_execute():
    """Memory that is written and executed, or becomes executable."""
    numbers = defined("sys/syscall.h", "__NR_")
    for name in ("mprotect", "pkey_mprotect"):
        load_filter([step(EQUAL, numbers[name], 0, 3), argument(2), step(SET, PROT_EXEC, 0, 1), step(RETURN, KILL), step(RETURN, ALLOW)])
    load_filter([step(EQUAL, numbers["mmap"], 0, 4), argument(2), step(SET, PROT_WRITE, 0, 2), step(SET, PROT_EXEC, 0, 1),
                 step(RETURN, KILL), step(RETURN, ALLOW)])
    load_filter([step(EQUAL, numbers["shmat"], 0, 3), argument(2), step(SET, SHM_EXEC, 0, 1), step(RETURN, KILL), step(RETURN, ALLOW)])


def bound_capabilities(names):
    kept = {name.lower() for name in names}
    for name, number in defined("linux/capability.h", "CAP_").items():
        if "cap_" + name.lower() not in kept and name != "LAST_CAP":
            try:
                prctl(PR_CAPBSET_DROP, number)
            except OSError:
                pass  # the kernel does not have it


def restrict(unit):
    of = settings(unit)
    one = lambda name: of.get(name, [""])[-1]
    calls = allowed_calls(unit)
    if os.geteuid() == 0 and "CapabilityBoundingSet" in of:
        bound_capabilities(one("CapabilityBoundingSet").split())
    defined("sys/syscall.h", "__NR_")  # as long as a compiler can be run
    if one("NoNewPrivileges") == "yes":
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if "RestrictAddressFamilies" in of:
        allow_families(one("RestrictAddressFamilies").split())
    if one("MemoryDenyWriteExecute") == "yes":
        deny_write_and_execute()
    if calls:
        allow_calls(calls)


if __name__ == "__main__":
    restrict(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
