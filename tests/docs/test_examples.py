# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of README.md and docs/: each ```console block as a reader would type it; the output is compared.

A line `$ COMMAND` is run (lines `> ` continue it). Its output follows, in which … stands for any text. A last line
`[N]` is its exit status; without it, the status must be 0. The blocks of one page share a shell and a directory, which
contains sample.root; that of README.md contains what packaging/quickstart leaves, build/sample.root."""

import os
import re
import subprocess
import sys

import pytest

import mounted
import pages
from pages import ROOT

PAGES = [page for page in pages.everywhere() if "```console" in pages.read(page)]
END = "-- end of output of the example --"


def examples(page):
    """[(line, command, expected output lines, exit status)]"""
    found, inside = [], False
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if line.startswith("```"):
                inside = line == "```console"
            elif inside and line.startswith("$ "):
                found.append([number, line[2:], [], 0])
            elif inside and line.startswith("> ") and not found[-1][2]:
                found[-1][1] += "\n" + line[2:]
            elif inside and re.fullmatch(r"\[\d+\]", line):
                found[-1][3] = int(line[1:-1])
            elif inside:
                found[-1][2].append(line)
    return found


# The mount namespaces of tests beside this one are made with copies of its mounts.
OF_OTHER_TESTS = re.compile(r"tfilefs: .*: (?:process \d+ \(.*\) keeps it in its own mount namespace: |unmounted; waiting for the daemon, ).*\n")


def matches(expected, output):
    return re.fullmatch(".*".join(re.escape(part) for part in expected.split("…")), output, re.DOTALL)


@pytest.fixture
def workspace(tmp_path, program):
    """A directory with sample.root, and an environment in which tfilefs and python3 are found."""
    (tmp_path / "bin").mkdir()
    os.symlink(os.path.realpath(program), tmp_path / "bin" / "tfilefs")
    work = tmp_path / "work"
    work.mkdir()
    environment = dict(os.environ, LC_ALL="C", PYTHONWARNINGS="ignore",
                       PATH=f"{tmp_path / 'bin'}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "make-sample.py"), work / "sample.root"], check=True,
                   env=environment)
    yield work, environment
    for point in ("mnt", "elsewhere"):
        if mounted.is_mount_point(work / point):
            subprocess.run(["fusermount3", "-u", "-z", work / point], check=True)


def run_page(page, work, environment):
    """Runs the examples of a page there, where sample.root is; compares."""
    if page == "README.md":
        (work / "build").mkdir()
        os.rename(work / "sample.root", work / "build" / "sample.root")
    with subprocess.Popen(["bash", "--norc"], cwd=work, env=environment, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as shell:
        for number, command, expected, status in examples(page):
            shell.stdin.write(f"{command}\nprintf '%s %d\\n' '{END}' $?\n")
            shell.stdin.flush()
            output = []
            while END not in (line := shell.stdout.readline()):
                assert line, f"{page}:{number}: the shell ended"
                if not OF_OTHER_TESTS.fullmatch(line):
                    output.append(line.rstrip("\n"))
            if last := line.partition(END)[0]:  # without the end of a line
                output.append(last)
            told = "\n".join(output)
            assert matches("\n".join(expected), told), f"{page}:{number}: $ {command}\n{told}"
            assert int(line.split()[-1]) == status, f"{page}:{number}: $ {command}\nexit status {line.split()[-1]}\n{told}"
        shell.stdin.close()


@pytest.mark.parametrize("page", PAGES)
def test_page(page, workspace):
    run_page(page, *workspace)


def test_pages_are_there():
    without = {os.path.join("docs", "semantics", "remote.md")}  # it would need servers; tests/mount has some
    assert {"README.md", *pages.contract()} - without <= set(PAGES)


def test_the_contract_has_an_index():
    """docs/semantics.md links to each of its pages, and old links into it lead to the section that has moved."""
    index = pages.read(os.path.join("docs", "semantics.md"))
    links = re.findall(r"\]\(semantics/([\w-]+\.md)(?:#[\w-]+)?\)", index)
    assert {os.path.join("docs", "semantics", name) for name in links} == set(pages.contract()[1:])
    moved = re.findall(r'<a id="([^"]+)"></a>\[[^]]+\]\(([^)#]+)(?:#([^)]+))?\)', index)
    assert len(moved) == 25
    assert all(section in (old, None, "") for old, _, section in moved)


def test_recipes_that_are_not_run_say_why():
    """Code in docs/recipes that is no example: its section, or the head of the page, gives the reason."""
    found = 0
    for page in (each for each in pages.everywhere() if os.path.dirname(each) == os.path.join("docs", "recipes")):
        head, *sections = pages.read(page).split("\n## ")
        for section in sections:
            if re.search(r"^```(?!console)\w+$", section, re.MULTILINE):
                found += 1
                assert re.search(r"(Not executed|executed by the tests): \w", head + section), f"{page}: {section.splitlines()[0]}"
    assert found > 5


def test_links_lead_somewhere():
    found = 0
    for page in pages.everywhere():
        for link, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", pages.read(page)):
            found += 1
            target = os.path.normpath(os.path.join(os.path.dirname(page), link)) if link else page
            assert os.path.exists(os.path.join(ROOT, target)), f"{page}: {link}"
            assert not heading or heading in pages.anchors(target), f"{page}: {link}#{heading}"
    assert found > 50


def test_sections_that_the_code_cites_exist():
    """`docs/format.md, "Key"` in a comment means that the page has that heading."""
    headings = {}
    for page in pages.everywhere():
        headings[page] = set(re.findall(r"^#+ (.*)$", pages.read(page), re.MULTILINE))
    cited = 0
    for room in ("format", "fs", "tests", "bench"):
        for directory, _, files in os.walk(os.path.join(ROOT, room)):
            for name in files:
                if name.endswith((".h", ".cpp", ".py")) and name != os.path.basename(__file__):
                    with open(os.path.join(directory, name), encoding="utf-8") as file:
                        text = re.sub(r"\n\s*(//|#)\s*", " ", file.read())
                    for page, heading in re.findall(r'(docs/(?:\w+/)?[\w-]+\.md),? "([^"]+)"', text):
                        cited += 1
                        assert heading in headings[page], f'{name} cites {page}, "{heading}"'
    assert cited > 5
