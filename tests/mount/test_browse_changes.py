# SPDX-License-Identifier: Apache-2.0
"""The page of `tfilefs browse` where the file changes while it is looked at, the view is left, or the server ends."""

import os
import shutil
import signal
import time

import numpy as np
import pytest
import uproot

from pages_of_browser import Browser, can_be_driven
from test_browse import Browsed
import mounted

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

COUNT, FAR = 1_200_000, 2**60
TOLD = "return [...document.querySelectorAll('p.dim')].map((each) => each.textContent).find((each) => each.includes('values read')) ?? ''"


def write(path, **columns):
    with uproot.recreate(path, compression=None) as file:
        file["T"] = columns


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    top = tmp_path_factory.mktemp("changed")
    # The page reads integers itself that a number of 64 bits with a fraction does not hold.
    write(top / "old.root", x=np.full(COUNT, FAR + 1), y=np.full(COUNT, FAR + 1))
    write(top / "new.root", x=np.full(COUNT, FAR + 5), y=np.full(COUNT, FAR + 5))
    write(top / "small.root", x=np.arange(7.0), other=np.full(7, 3.5))
    return top


@pytest.fixture
def browser(tmp_path):
    with Browser(tmp_path) as one:
        one.show()
        yield one


def slow(browser, rate):
    browser.command("Network.enable")
    browser.command("Network.emulateNetworkConditions", offline=False, latency=2, downloadThroughput=rate, uploadThroughput=rate)


def replace(files, name, path):
    shutil.copy(files / name, f"{path}.other")
    os.rename(f"{path}.other", path)


def wait(browser, script, *arguments, seconds=40):
    return mounted.wait_until(lambda: browser.run(script, *arguments), seconds,
                              lambda: (script, browser.run("return location.href + document.body.innerText")))


def reads(browser):
    wait(browser, "return document.getElementById('main').innerText.includes('%')")


def test_a_histogram_is_of_one_state_of_the_file(program, files, tmp_path):
    path = tmp_path / "a.root"
    shutil.copy(files / "old.root", path)
    with Browsed(program, "-n", str(path)) as browsed, Browser(tmp_path) as browser:
        browser.go(browsed.at("/T"), "main td")
        slow(browser, 3 << 20)
        browser.run("location.hash = '#/T/x.i8'")
        reads(browser)
        replace(files, "new.root", path)
        told = wait(browser, TOLD)
        assert f"in the range {COUNT}, mean {FAR + 5} + 0, standard deviation 0" in told


def test_a_file_that_does_not_come_to_rest_is_told(program, files, tmp_path):
    path = tmp_path / "a.root"
    shutil.copy(files / "old.root", path)
    with Browsed(program, "-n", str(path)) as browsed, Browser(tmp_path) as browser:
        browser.go(browsed.at("/T"), "main td")
        slow(browser, 3 << 20)
        browser.run("location.hash = '#/T/x.i8'")
        deadline = time.monotonic() + 60
        while "of no one state" not in browser.run("return document.getElementById('main').innerText"):
            assert time.monotonic() < deadline and browser.run(TOLD) == ""
            replace(files, "new.root", path)
            time.sleep(0.5)
        browser.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Read again').click()")
        assert f"mean {FAR + 5}" in wait(browser, TOLD)


def test_a_file_that_has_changed_is_shown_anew(program, files, tmp_path, browser):
    path = tmp_path / "a.root"
    shutil.copy(files / "old.root", path)
    with Browsed(program, "-n", str(path)) as browsed:
        browser.go(browsed.at("/T"), "main td")
        replace(files, "small.root", path)
        wait(browser, "return document.getElementById('main').innerText.includes('of 7, columns 1 to 2 of 2')")
        assert browser.run("return [...document.querySelectorAll('.row .name')].map((each) => each.textContent)") == ["T", "other", "x"]
        browser.run("location.hash = '#/T/x.f8'")
        assert wait(browser, TOLD).startswith("7 of 7 values read")


def test_what_is_left_is_not_read_on_and_writes_no_url(program, files, tmp_path, browser):
    with Browsed(program, "-n", str(files / "old.root")) as browsed:
        browser.go(browsed.at("/T"), "main td")
        slow(browser, 2 << 20)
        browser.run("location.hash = '#/T/x.i8?columns=7&counts=log'")
        reads(browser)
        browser.run("location.hash = '#/T/y.i8?zoom=0:2'")
        began = time.monotonic()
        wait(browser, TOLD)
        assert browser.run("return decodeURIComponent(location.hash)") == "#/T/y.i8?zoom=0:2"
        assert time.monotonic() - began < 2.2 * COUNT * 8 / (2 << 20), "x is not read any more"
        browser.run("location.hash = '#/T/x.i8?columns=7'")
        reads(browser)
        browser.run("location.hash = '#/T'")
        time.sleep(2 + COUNT * 8 / (2 << 20))
        assert browser.run("return location.hash") == "#/T"


def test_a_server_that_has_ended_is_told_in_words(program, files, tmp_path, browser):
    with Browsed(program, "-n", str(files / "small.root")) as browsed:
        browser.go(browsed.at("/T"), "main td")
        browsed.process.send_signal(signal.SIGTERM)
        browsed.process.wait(30)
        browser.run("location.hash = '#/T/x.f8'")
        browser.wait_for("main .error")
        assert "The server does not answer" in browser.run("return document.querySelector('main .error').textContent")
