# SPDX-License-Identifier: Apache-2.0
"""The files of an installation are those of packaging/installed-files.txt; the program is small, and its symbols are
apart."""

import os
import re
import shutil
import stat
import subprocess

import pytest

from conftest import ROOT, build_directory, build_id, cached, install_component


def files_below(directory):
    return sorted(os.path.relpath(os.path.join(folder, name), directory)
                  for folder, _, names in os.walk(directory) for name in names)


def listed():
    with open(os.path.join(ROOT, "packaging", "installed-files.txt"), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def test_the_files_are_those_of_the_list(installed):
    found = [each for each in files_below(installed.prefix) if not each.startswith("lib/debug/")]
    assert found == sorted(listed())


def test_nothing_is_laid_outside_of_the_prefix(installed):
    prefix = os.path.relpath(installed.prefix, installed.directory) + "/"
    assert all(each.startswith(prefix) for each in files_below(installed.directory))


def test_programs_can_be_run_by_all_and_the_rest_is_read_only(installed):
    programs = {"bin/tfilefs", "sbin/mount.fuse.tfilefs", "sbin/mount.tfilefs", "libexec/tfilefs/open-root-file"}
    for name in listed():
        if name.endswith(".so"):
            continue  # as the distribution has them
        mode = stat.S_IMODE(os.stat(os.path.join(installed.prefix, name)).st_mode)
        assert mode == (0o755 if name in programs else 0o644), f"{name}: {mode:o}"


def test_an_umask_takes_nothing_from_users(tmp_path):
    subprocess.run(["cmake", "--install", build_directory(), "--component", "tfilefs", "--prefix", "/usr"], check=True, umask=0o077,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, DESTDIR=str(tmp_path)))
    for own in ("lib/tfilefs", "libexec/tfilefs", "share/doc/tfilefs", "share/doc/tfilefs/docs"):
        assert stat.S_IMODE(os.stat(tmp_path / "usr" / own).st_mode) == 0o755, own


def sections(path):
    text = subprocess.run(["readelf", "--wide", "--section-headers", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\] (\.\S+)", text))


@pytest.mark.parametrize("name, place", (("tfilefs", "bin/tfilefs"), ("tfilefs-remote", "lib/tfilefs/tfilefs-remote.so")))
def test_programs_are_stripped_and_their_symbols_are_apart(installed, name, place):
    program = os.path.join(installed.prefix, place)
    assert os.path.getsize(program) < 12e6
    assert ".symtab" not in sections(program) and ".gnu_debuglink" in sections(program)
    symbols = f"{installed.prefix}/lib/debug{cached('CMAKE_INSTALL_PREFIX')}/{os.path.dirname(place)}/{name}.debug"
    assert ".debug_line" in sections(symbols)
    assert build_id(program) == build_id(symbols)


def test_what_reads_urls_is_found_where_it_is_installed(installed):
    done = subprocess.run([installed.program, "ls", "http://127.0.0.1:1/a.root"], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot load" not in done.stderr, done.stderr


def test_files_name_places_where_something_is(installed):
    """Units and the menu entry name the program by its path."""
    for name in ("lib/systemd/user/tfilefs@.service", "share/applications/tfilefs.desktop"):
        with open(os.path.join(installed.prefix, name), encoding="utf-8") as file:
            paths = re.findall(r'^Exec\w*="(/[^"]+)"', file.read(), re.MULTILINE)
        assert paths and all(os.access(installed.directory + path, os.X_OK) for path in paths), (name, paths)


def test_the_menu_entry_mounts_and_opens(installed, sample, tmp_path):
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text('#!/bin/sh\nls -d "$1"/Events "$1"/Events.parquet && echo "$1" > "$OPENED"\n')
    opener.chmod(0o755)
    environment = dict(installed.environment, XDG_RUNTIME_DIR=str(tmp_path), OPENED=str(tmp_path / "opened"))
    environment["PATH"] = f"{opener.parent}:{environment['PATH']}"
    entry = f"{installed.prefix}/libexec/tfilefs/open-root-file"
    for _ in range(2):  # the second time it is only opened
        done = subprocess.run([entry, sample], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    point = (tmp_path / "opened").read_text().strip()
    assert subprocess.run([installed.program, "umount", point], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The prefix of an installation that is on nobody's PATH, and has a space in its name."""
    return install_component("tfilefs", tmp_path_factory.mktemp("else where"))


def test_an_installation_anywhere_finds_its_own_program(elsewhere, sample, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "mnt").mkdir()
    (tmp_path / "bin" / "xdg-open").write_text('#!/bin/sh\nls "$1"/Events >/dev/null && tfilefs umount "$1"\n')
    (tmp_path / "bin" / "xdg-open").chmod(0o755)
    for helper in ("mount.fuse.tfilefs", "mount.tfilefs"):
        (tmp_path / helper).symlink_to(elsewhere / "sbin" / helper)
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)}
    unmounting = [elsewhere / "bin" / "tfilefs", "umount", tmp_path / "mnt"]
    for command in ([tmp_path / "mount.fuse.tfilefs", sample, tmp_path / "mnt"], unmounting,
                    [tmp_path / "mount.tfilefs", sample, tmp_path / "mnt", "-o", "rw,dev,suid"], unmounting,
                    [elsewhere / "libexec" / "tfilefs" / "open-root-file", sample]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr)


def test_a_unit_and_a_menu_entry_quote_the_place_of_the_program(elsewhere, tmp_path):
    unit = elsewhere / "lib" / "systemd" / "user" / "tfilefs@.service"
    shutil.copy(unit, tmp_path / "tfilefs@run1.service")
    done = subprocess.run(["systemd-analyze", "--user", "--man=no", "--recursive-errors=no", "verify", tmp_path / "tfilefs@run1.service"],
                          capture_output=True, text=True, env=dict(os.environ, XDG_RUNTIME_DIR="/tmp"), timeout=120)
    assert done.returncode == 0 and "tfilefs@" not in done.stderr, done.stderr
    entry = (elsewhere / "share" / "applications" / "tfilefs.desktop").read_text()
    assert f'Exec="{elsewhere}/libexec/tfilefs/open-root-file" %f\n' in entry


def test_the_type_of_files_is_known(installed):
    text = open(f"{installed.prefix}/share/mime/packages/tfilefs.xml", encoding="utf-8").read()
    entry = open(f"{installed.prefix}/share/applications/tfilefs.desktop", encoding="utf-8").read()
    [kind] = re.findall(r'mime-type type="([^"]+)"', text)
    assert f"MimeType={kind};" in entry


def test_version_tells_more_if_it_is_asked(installed):
    run = lambda *arguments: subprocess.run([installed.program, *arguments], capture_output=True, text=True, check=True).stdout
    short = run("--version")
    assert re.fullmatch(r"tfilefs \d+\.\d+\.\d+\n", short)
    long = run("--version", "-v")
    assert long == run("-v", "--version") and long.startswith(short)
    for word in ("commit: ", "compiler: ", "libfuse 3.", "zstd 1.", "zlib 1.", "libcurl ", "XRootD ", "vector instructions: "):
        assert word in long, word
    commit = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h"], capture_output=True, text=True).stdout.strip()
    assert not commit or f"commit: {commit}\n" in long
