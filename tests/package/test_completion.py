# SPDX-License-Identifier: Apache-2.0
"""Lines typed in real terminals of bash, zsh and fish, with the key that completes."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
import uproot

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "bash-completion/completions/tfilefs", ["bind 'set bell-style none'"]),
    "zsh": (["zsh", "-f", "-i"], "zsh/site-functions/_tfilefs",
            ["autoload -U compinit; compinit -u -D", "unsetopt beep prompt_cr prompt_sp"]),
    "fish": (["fish", "--no-config", "-i"], "fish/vendor_completions.d/tfilefs.fish", []),
}

# What is typed, and what the line then is.
LINES = [
    ("tfilefs umo", "tfilefs umount "),
    ("tfilefs doc", "tfilefs doctor "),
    ("tfilefs umount --la", "tfilefs umount --lazy "),
    ("tfilefs ls --js", "tfilefs ls --json "),
    ("tfilefs check sam", "tfilefs check sample.root "),
    ("tfilefs ls sample.root/Ev", "tfilefs ls sample.root/Events/"),
    ("tfilefs ls sample.root/tracker/layer1/hits/xed", "tfilefs ls sample.root/tracker/layer1/hits/xedges.f8 "),
    ("tfilefs ls folder/spa", "tfilefs ls folder/space in it.root/"),
    ("tfilefs ls folder/space\\ in\\ it.root/s", "tfilefs ls folder/space in it.root/some/"),
    ("tfilefs ls folder/it\\'s.root/s", "tfilefs ls folder/it's.root/some/"),
    ("tfilefs -o rec", "tfilefs -o recheck="),
    ("tfilefs -o prefetch=le", "tfilefs -o prefetch=learn "),
    ("tfilefs -o ro,compression=zs", "tfilefs -o ro,compression=zstd "),
    ("tfilefs completion fi", "tfilefs completion fish "),
]


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, command, environment, directory):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, environment)
        self.told = ""

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def wait_for(self, pattern, seconds=30):
        """Reads until the pattern is there; returns its match. Answers what shells ask a terminal."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.told)):
            assert time.monotonic() < deadline, f"{pattern!r} is not in {self.told!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                said = os.read(self.fd, 65536).decode("utf-8", "replace")
                self.told += said
                if "\x1b[c" in said or "\x1b[0c" in said:
                    self.type("\x1b[?62c")
                if "\x1b[6n" in said:
                    self.type("\x1b[1;1R")
        return found

    def run(self, line, mark):
        """Runs a line, and waits until it is done."""
        self.type(f"{line}; echo ma''rk-{mark}\r")
        self.wait_for(rf"mark-{mark}")
        self.told = ""

    def settle(self, quiet=0.25):
        """Reads until nothing has come for some time."""
        while select.select([self.fd], [], [], quiet)[0]:
            self.told += os.read(self.fd, 65536).decode("utf-8", "replace")

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


@pytest.fixture(scope="module")
def place(installed, sample, tmp_path_factory):
    directory = tmp_path_factory.mktemp("typing")
    shutil.copy(sample, directory / "sample.root")
    (directory / "folder").mkdir()
    for name in ("space in it.root", "it's.root"):
        with uproot.recreate(directory / "folder" / name) as file:
            file["some"] = {"x": [1.0]}
    (directory / "mounted").mkdir()
    yield directory


@pytest.mark.parametrize("shell", SHELLS)
def test_lines_are_completed(shell, installed, place):
    command, script, settings = SHELLS[shell]
    environment = dict(installed.environment, HOME=str(place), TERM="xterm", PS1="$ ", XDG_CONFIG_HOME=str(place / "config"),
                       XDG_DATA_HOME=str(place / "data"), INPUTRC="/dev/null")
    terminal = Terminal(command, environment, place)
    wrong = []
    try:
        terminal.settle(1.0)
        terminal.told = ""
        for number, line in enumerate([*settings, f"source {installed.prefix}/share/{script}"]):
            terminal.run(line, f"setting-{number}")
        for number, (typed, wanted) in enumerate(LINES):
            terminal.type(typed + "\t")
            terminal.settle()
            terminal.type("X")
            # The line as it then is becomes the argument of a command that writes it down: ^A goes to its beginning.
            terminal.type(f"\x01printf '%s\\n' >said-{shell}-{number} \x05\r")
            said = written(place / f"said-{shell}-{number}", terminal)
            words = split(wanted + "X")
            if said != words:
                wrong.append(f"{typed!r}: {said} for {words}")
            terminal.settle(0.1)
            terminal.told = ""
    finally:
        terminal.close()
    assert not wrong, "\n".join(wrong)


def written(path, terminal):
    """The lines of a file, when the shell has written it."""
    for _ in range(300):
        if path.exists() and (text := path.read_text()).endswith("X\n"):
            return text.splitlines()
        terminal.settle(0.05)
    raise AssertionError(f"{path} is not written: {terminal.told!r}")


def split(line):
    """The words of a line; a name with spaces is one."""
    return [word.replace("\0", " ") for word in line.replace("space in it", "space\0in\0it").split(" ")]


def test_mount_points_are_offered(installed, place):
    point = place / "mounted"
    subprocess.run([installed.program, place / "sample.root", point], check=True, capture_output=True)
    try:
        for command in ("umount", "stats"):
            said = subprocess.run([installed.program, "complete", command, str(place)], capture_output=True, text=True, check=True)
            assert said.stdout == f"{point}\n"
        said = subprocess.run([installed.program, "complete", "commit", str(place)], capture_output=True, text=True, check=True)
        assert said.stdout == f"{point}/\n:files\n"
    finally:
        subprocess.run([installed.program, "umount", point], check=True)


def test_no_server_is_asked_and_nothing_is_told(installed, place):
    for words in (["ls", "https://192.0.2.1/a.root/"], ["ls", "folder/nothing.root/x"], ["nonsense", ""], []):
        done = subprocess.run([installed.program, "complete", *words], capture_output=True, text=True, cwd=place, timeout=10)
        assert (done.returncode, done.stderr) == (0, ""), words
