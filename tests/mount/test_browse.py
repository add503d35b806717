# SPDX-License-Identifier: Apache-2.0
"""`tfilefs browse`: the page, and what Chromium makes of it, where that is installed."""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import urllib.parse
import urllib.request

import numpy as np
import pytest
import uproot

from pages_of_browser import dom, has_browser

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "fs", "http", "page")
XSS = "<img src=x onerror=alert(1)>"


class Browsed:
    def __init__(self, program, *arguments, **environment):
        without = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION")}
        self.process = subprocess.Popen([program, "browse", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=without | environment)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.said = self.process.communicate(timeout=30)[1]
        assert self.process.returncode == 0, self.said

    def at(self, path):
        parts = urllib.parse.urlsplit(self.url)
        token = urllib.parse.parse_qs(parts.query)["token"][0]
        return f"{parts.scheme}://{parts.netloc}/.tfilefs/page/?" + urllib.parse.urlencode({"at": path, "token": token})


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("browsed") / "numbers.root"
    with uproot.recreate(path) as file:
        file["T"] = {"x": np.arange(1000, dtype="f4"), "word": np.array(["one", "two"] * 500), "wide": np.ones((1000, 3), "i8")}
        file["h"] = np.histogram(np.arange(100), bins=10)
    return str(path)


def test_the_page_is_small_and_asks_nobody_else():
    files = os.listdir(PAGE)
    assert {"index.html", "page.css", "page.js"} <= set(files)
    assert sum(os.path.getsize(os.path.join(PAGE, name)) for name in files) < 300_000
    for name in files:
        with open(os.path.join(PAGE, name), encoding="utf-8") as file:
            text = file.read().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|innerHTML|eval\(|style=", text), name


def test_each_file_of_the_page_is_served(program, source):
    with Browsed(program, "-n", source) as browsed:
        for name in [*filter(lambda each: not each.endswith(".in"), os.listdir(PAGE)), ""]:
            answer = urllib.request.urlopen(browsed.url.replace("/page/?", f"/page/{name}?"))
            with open(os.path.join(PAGE, name or "index.html"), "rb") as file:
                assert answer.read() == file.read()
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
        kind = urllib.request.urlopen(browsed.url.replace("/page/?", "/page/page.js?")).headers["Content-Type"]
        assert kind.startswith("text/javascript")


def test_the_url_leads_into_the_file(program, source):
    with Browsed(program, source + ":T/x.f4") as browsed:
        assert "?at=%2FT%2Fx.f4&token=" in browsed.url


def entries(browsed):
    schema = urllib.request.urlopen(browsed.at("").split("/.tfilefs/")[0] + "/T/.schema.json?" + browsed.url.split("?")[1])
    return json.load(schema)["entries"]


@pytest.mark.parametrize("words", (["{}/run*.root"], ["{}/run*.root:T"], ["{}/run1.root", "{}/run2.root"], ["{}/run1.root:T", "{}/run2.root/T"]))
def test_several_files_are_looked_at_as_one(program, source, tmp_path, words):
    for number in (1, 2):
        shutil.copy(source, tmp_path / f"run{number}.root")
    with Browsed(program, "-n", *(word.format(tmp_path) for word in words)) as browsed:
        assert entries(browsed) == 2000
        assert ("?at=%2FT&token=" in browsed.url) == words[0].endswith(":T")


def test_a_pattern_of_one_file_is_that_file(program, source):
    with Browsed(program, "-n", os.path.dirname(source) + "/num*:T") as browsed:
        assert entries(browsed) == 1000


def test_what_cannot_be_looked_at(program, source):
    for words, reason in (([source + ":T", source + ":h"], "the same for all"), (["none*.root"], "no file matches")):
        done = subprocess.run([program, "browse", "-n", *words], capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and reason in done.stderr


def test_that_others_can_connect_is_told(program, source):
    for address, is_told in (("0.0.0.0:0", True), ("127.0.0.1:0", False)):
        with Browsed(program, "-n", source, "--listen", address) as browsed:
            assert "/.tfilefs/page/?token=" in browsed.url
        assert ("whoever has the token reads what you may read" in browsed.said) == is_told


def test_over_ssh_a_tunnel_is_told(program, source):
    with Browsed(program, source, SSH_CONNECTION="1.2.3.4 5 6.7.8.9 22") as browsed:
        port = urllib.parse.urlsplit(browsed.url).port
    assert f"ssh -N -L {port}:127.0.0.1:{port} " in browsed.said


@pytest.mark.skipif(not has_browser(), reason="needs Chromium")
def test_what_a_browser_shows(program, source, tmp_path):
    with Browsed(program, "-n", source) as browsed:
        table = dom(browsed.at("/T"), tmp_path)
        assert "entries 0 to 49 of 1000, columns 1 to 3 of 3" in table
        assert "<td class=\"number\">49</td>" in table and ">[1, 1, 1]</td>" in table and ">two</td>" in table
        column = dom(browsed.at("/T/x.f4"), tmp_path)
        assert "1000 of 1000 values read; in the range 1000, mean 499.5, standard deviation 288.675" in column
        assert "<svg class=\"plot\"" in column and re.search(r'<text class="title"[^>]*>x</text>', column)
        assert re.search(r'>Download</span><a href="/T/x.f4" download="">x.f4</a>', column)
        words = dom(browsed.at("/T/word/chars.u1"), tmp_path)
        assert "2 different ones of the first 1000" in words
        assert ">Expressions</h3>" in column and 'src="blob:' not in column, "nothing is drawn before it is asked for"
        for link, line in (("x=x", "tfilefs draw {}:T x"), ("x=x&cut=x>10&bins=20&log=y", "tfilefs draw {}:T x 'x>10' --bins 20 --log"),
                           ("x=x&y=wide&bins=10", "tfilefs draw {}:T wide:x --bins 10,10"),
                           ("x=x&y=wide&profile=1&range=0:9", "tfilefs draw {}:T wide:x --range 0:9 --profile")):
            drawn = html.unescape(dom(browsed.at("/T/x.f4?" + link), tmp_path))
            assert 'src="blob:' in drawn and line.format(source) + "</pre>" in drawn, drawn
            assert 'value="wide"' in drawn, "columns are offered"
        wrong = dom(browsed.at("/T/x.f4?x=nothing"), tmp_path)
        assert 'role="alert"' in wrong and "nothing" in wrong and 'src="blob:' not in wrong
        zoomed = dom(browsed.at("/T/x.f4?zoom=0:500&columns=50&counts=log"), tmp_path)
        assert "in the range 500, mean 249.5" in zoomed
        plot = dom(browsed.at("/h"), tmp_path)
        assert 'src="blob:' in plot and 'alt="Plot of h"' in plot and "has no plot" not in plot
        missing = dom(browsed.at("/missing"), tmp_path)
        assert 'class="error"' in missing


@pytest.mark.skipif(not has_browser(), reason="needs Chromium")
def test_names_are_only_text(program, tmp_path):
    top = tmp_path / "top"
    (top / XSS).mkdir(parents=True)
    with uproot.recreate(top / XSS / "a.root") as file:
        file.mktree("T", {"x": "i4"}, title=XSS)
        file["T"].extend({"x": np.arange(10, dtype="i4")})
    shutil.copy(top / XSS / "a.root", top / "'\"&.root")
    with Browsed(program, "-n", str(top)) as browsed:
        for path in ("/", f"/{XSS}", f"/{XSS}/a.root/T", f"/{XSS}/a.root/T/x.i4", "/'\"&.root/T"):
            shown = dom(browsed.at(urllib.parse.quote(path)), tmp_path)
            assert "<img src=\"x\"" not in shown and "onerror=\"" not in shown, path
        assert "&lt;img src=x onerror" in dom(browsed.at(urllib.parse.quote(f"/{XSS}/a.root/T")), tmp_path)
