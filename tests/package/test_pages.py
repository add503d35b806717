# SPDX-License-Identifier: Apache-2.0
"""The manual, --help, the parser and completion have the same commands and options: all are made from one description."""

import os
import re
import subprocess

import pytest

PAGES = ("man1/tfilefs.1", "man5/tfilefs-layout.5", "man8/mount.fuse.tfilefs.8")


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60)


def shown(installed, page):
    done = subprocess.run(["man", "--warnings", "-l", f"{installed.prefix}/share/man/{page}"], capture_output=True, text=True,
                          env=dict(os.environ, MANWIDTH="200", LC_ALL="C.UTF-8"))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_warnings(installed, page):
    text = shown(installed, page)
    version = run(installed.program, "--version").stdout.split()[1]
    assert f"tfilefs {version}" in text and re.search(r"\d{4}-\d{2}-\d{2}", text)
    assert not re.search(r"@[A-Z_]+@", text)
    for heading in ("NAME", "DESCRIPTION", "SEE ALSO"):
        assert re.search(rf"^{heading}$", text, re.MULTILINE), heading


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_found_by_name(installed, page):
    assert run("lexgrog", f"{installed.prefix}/share/man/{page}").returncode == 0


def test_the_page_of_the_program_is_whole(installed):
    text = shown(installed, PAGES[0])
    for heading in ("SYNOPSIS", "COMMANDS", "OPTIONS", "FILES", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "BUGS"):
        assert re.search(rf"^{heading}$", text, re.MULTILINE), heading


def offered(installed, *words):
    lines = run(installed.program, "complete", *words).stdout.splitlines()
    return {line.split("\t")[0] for line in lines if not line.startswith(":")}


def commands_of_help(installed):
    text = run(installed.program, "--help").stdout
    return set(re.findall(r"^  tfilefs ([a-z]+) ", text, re.MULTILINE))


def section(text, heading):
    return re.search(rf"^{heading}\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL).group(1)


def test_commands_are_the_same_everywhere(installed):
    in_help = commands_of_help(installed)
    assert {"umount", "ls", "stats", "classes", "doctor", "completion"} <= in_help
    assert in_help == {word for word in offered(installed, "") if not word.startswith("-")}
    commands = section(shown(installed, PAGES[0]), "COMMANDS")
    assert in_help == set(re.findall(r"^       ([a-z]+)(?: |$)", commands, re.MULTILINE))
    for command in in_help:
        assert run(installed.program, command, "--help").returncode == 0


def flags_of_help(installed, *command):
    text = run(installed.program, *command, "--help").stdout.split("Commands:")[0]
    return {flag for line in re.findall(r"^  (-[^ ]*)", text, re.MULTILINE) for flag in line.split(",")}


def test_flags_are_the_same_everywhere(installed):
    page = shown(installed, PAGES[0])
    for command in [(), *((each,) for each in sorted(commands_of_help(installed)))]:
        in_help = flags_of_help(installed, *command)
        assert in_help == offered(installed, *command, "-"), command
        where = section(page, "OPTIONS" if not command else "COMMANDS")
        for flag in in_help - {"-h", "--help"}:
            assert re.search(rf"(^|[\s,]){re.escape(flag)}\b", where), (command, flag)


def test_mount_options_are_the_same_everywhere(installed, sample, tmp_path):
    text = run(installed.program, "--help").stdout
    in_help = set(re.findall(r"^  ([a-z_]+=?)", section(text, "Options for -o:"), re.MULTILINE))
    assert len(in_help) > 20
    assert in_help == offered(installed, "-o", "")
    with open(f"{installed.prefix}/share/man/{PAGES[0]}", encoding="utf-8") as page:
        assert in_help == set(re.findall(r"^\.TP\n\\fB([a-z_]+=?)(?:\\f|\[|$)", page.read().split(".SH OPTIONS")[1], re.MULTILINE))
    values = {"log=": "info", "views=": "hidden", "strings=": "seen", "prefetch=": "off", "compression=": "zstd",
              "umask=": "022", "format=": "tree", "missing=": "skip,chain", "index=": f"{tmp_path}/index,chain",
              "friend=": f"f={sample}", "define=": "n=1", "where=": "1", "diskcache=": str(tmp_path), "lifeline=": "0"}
    for option in sorted(in_help):
        word = option + (values.get(option, "4000000") if option.endswith("=") else "")
        word = word.replace("threads=4000000", "threads=1").replace("timeout=4000000", "timeout=4")
        word = word.replace("recheck=4000000", "recheck=4").replace("commit=4000000", "commit=4")
        assert run(installed.program, "ls", "-o", word, sample).returncode == 0, word
    done = run(installed.program, "ls", "-o", "nonsense", sample)
    assert done.returncode == 2 and "unknown option nonsense" in done.stderr


def test_scripts_of_shells_are_those_of_the_program(installed):
    for shell, place in (("bash", "bash-completion/completions/tfilefs"), ("zsh", "zsh/site-functions/_tfilefs"),
                         ("fish", "fish/vendor_completions.d/tfilefs.fish")):
        with open(f"{installed.prefix}/share/{place}", encoding="utf-8") as script:
            assert run(installed.program, "completion", shell).stdout == script.read()
    done = run(installed.program, "completion", "csh")
    assert done.returncode == 2 and "bash, zsh or fish" in done.stderr


def test_what_is_missing_is_told_with_what_to_do(installed, sample, tmp_path):
    done = run(installed.program, sample, tmp_path / "none" / "mnt")
    assert done.returncode == 1 and "its parent directory does not exist either" in done.stderr
    done = run(installed.program, "ftp://example.org/a.root", tmp_path)
    assert done.returncode == 1 and "https" in done.stderr and "root" in done.stderr
    (tmp_path / "mnt").mkdir()
    done = run(installed.program, "-o", "compress=zstd", sample, tmp_path / "mnt")
    assert done.returncode == 2 and "unknown option compress: did you mean compression?" in done.stderr
    done = run(installed.program, "-o", f"logfile={tmp_path}/none/log", sample, tmp_path / "mnt")
    assert done.returncode == 1 and f"{tmp_path}/none/log: cannot write the log: No such file" in done.stderr


@pytest.mark.parametrize("option", ("rw=no", "allow_other=0", "ro=False"))
def test_a_value_where_none_is_wanted_is_refused(installed, sample, tmp_path, option):
    """A file that is mounted with rw=no would be one to write."""
    done = run(installed.program, "-o", option, sample, tmp_path)
    assert done.returncode == 2 and f"option {option}: expected no value" in done.stderr


@pytest.mark.parametrize("arguments, told", (
    (["--nonsense"], "unknown option --nonsense; see tfilefs --help"), (["umount"], "MNT is required; see tfilefs umount --help"),
    (["doctor", "more"], "not expected: more; see tfilefs doctor --help")))
def test_a_wrong_command_line_is_told_in_one_line(installed, arguments, told):
    done = run(installed.program, *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("tfilefs: ") and done.stderr.count("\n") == 1 and told in done.stderr


def without_proc(installed, tmp_path, commands):
    """Lines of sh in a root directory of their own that has no /proc."""
    root = tmp_path / "root"
    root.mkdir()
    script = f"mount --rbind / {root} && mount --make-rslave {root} && umount --recursive --lazy {root}/proc && exec chroot {root} sh -c '{commands}'"
    return run("unshare", "--mount", "sh", "-c", script)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a root directory of its own")
def test_a_machine_without_proc_is_told_so(installed, tmp_path):
    done = without_proc(installed, tmp_path, f"{installed.program} umount {tmp_path}; {installed.program} doctor")
    assert "mount -t proc proc /proc" in done.stderr and "not a mount point" not in done.stderr, done.stderr
    assert re.search(r"^bad   kernel .*/proc is not mounted: mount -t proc", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^bad   mount  .*/proc/self/exe: ", done.stdout, re.MULTILINE), done.stdout
