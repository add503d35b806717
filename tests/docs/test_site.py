# SPDX-License-Identifier: Apache-2.0
"""packaging/make-site: each page of docs/ is on the site, links lead somewhere, code has its language, and nothing is fetched
from elsewhere."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

import mounted
from pages import ROOT, everywhere

SITE = os.path.join(ROOT, "packaging", "site")
BUILD = os.path.dirname(os.path.dirname(os.path.realpath(mounted.program())))


def module(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(SITE, name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("no Sphinx: packaging/install-deps site")
    if not os.path.exists(os.path.join(BUILD, "packaging", "tfilefs.1")):
        pytest.skip("the build has no manual")
    directory = str(tmp_path_factory.mktemp("site"))
    done = subprocess.run([os.path.join(ROOT, "packaging", "make-site"), directory, BUILD], capture_output=True, text=True, timeout=800,
                          env=dict(os.environ, TFILEFS_VENV=sys.prefix))
    assert done.returncode == 0, done.stderr
    return directory


def shown(site):
    """(path below the site, text) of its pages."""
    for folder, _, names in os.walk(site):
        for path in (os.path.join(folder, name) for name in sorted(names) if name.endswith(".html")):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, site), file.read()


def test_each_page_is_there(site):
    pages = {page for page in everywhere() if page.startswith("docs/")} | {"CHANGELOG.md", "CONTRIBUTING.md", "index.md", "python.md"}
    missing = [page for page in sorted(pages) if not os.path.exists(os.path.join(site, page.removesuffix(".md") + ".html"))]
    assert not missing
    for made in ("manual/tfilefs.1.html", "library/file.h.html", "search.html"):
        assert os.path.exists(os.path.join(site, made)), made


def test_each_page_is_in_the_navigation(site):
    told = re.findall(r'class="reference internal" href="([^"#]+)"', dict(shown(site))["index.html"])
    missing = {path for path, _ in shown(site)} - set(told) - {"index.html", "search.html"}
    assert not missing


def test_the_package_and_the_library_are_described(site):
    pages = dict(shown(site))
    for name in ("tfilefs.mount", "tfilefs.Table.arrays", "tfilefs.Histogram.to_numpy", "tfilefs.create"):
        assert f'id="{name}"' in pages["python.html"], name
    assert 'id="tfile-file-h"' in pages["library/file.h.html"] and "datime_of" in pages["library/file.h.html"]


def test_code_has_its_language(site):
    without = [path for path, text in shown(site) if re.search(r'class="highlight-(?:none|default) ', text)]
    assert not without


def test_links_lead_somewhere_and_nothing_is_fetched_from_elsewhere(site):
    assert list(module("check").faults(site)) == []


@pytest.mark.parametrize("html, told", [
    ('<a href="none.html">', "a.html: there is no none.html"), ('<a href="#x"><b id="y">', "a.html: no anchor #x"),
    ('<script src="https://cdn.example/x.js">', "a.html: fetches https://cdn.example/x.js"),
    ('<link rel="stylesheet" href="//fonts.example/x.css">', "a.html: fetches //fonts.example/x.css"),
    ('<a href="https://root.cern">', None), ('<a href="a.html#x"><b id="x">', None)])
def test_faults_are_found(tmp_path, html, told):
    (tmp_path / "a.html").write_text(html)
    assert list(module("check").faults(tmp_path)) == ([told] if told else [])
