# SPDX-License-Identifier: Apache-2.0
"""Pages as Chromium shows them."""

import contextlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import urllib.request

import mounted

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


def has_browser():
    return shutil.which("chromium") is not None


def dom(url, directory):
    """The page as HTML, after its scripts have run. `directory`: for what the browser keeps."""
    done = subprocess.run(["chromium", *FLAGS, f"--user-data-dir={directory}/chromium",
                           "--virtual-time-budget=10000", "--dump-dom", url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def axe():
    """The source of axe-core, which packaging/install-deps installs; None: it is not there."""
    try:
        files = importlib.metadata.files("axe-playwright-python") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((each.read_text() for each in files if each.name == "axe.min.js"), None)


def can_be_driven():
    return has_browser() and shutil.which("chromedriver") is not None


class Browser:
    """One that stays, is looked into and is told what to do, by the protocol WebDriver: `with Browser(directory) as browser`."""

    def __init__(self, directory):
        self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._at = ""
        try:
            port = next(found[1] for line in self._driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
            self._at = f"http://127.0.0.1:{port}/session"
            options = {"args": [*FLAGS, f"--user-data-dir={directory}/driven"], "binary": shutil.which("chromium")}
            self._at += "/" + self._ask("", capabilities={"alwaysMatch": {"goog:chromeOptions": options}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(urllib.request.Request(self._at, method="DELETE"), timeout=30).close()
        self._driver.terminate()
        self._driver.wait()

    def _ask(self, what, **given):
        request = urllib.request.Request(self._at + what, json.dumps(given).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def command(self, name, **given):
        """One of Chromium's own (Chrome DevTools Protocol)."""
        return self._ask("/goog/cdp/execute", cmd=name, params=given)

    def show(self, width=1200, height=900, scheme="light"):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, url, selector):
        """Waits until something in the page is as the selector says."""
        self._ask("/url", url="about:blank")
        self._ask("/url", url=url)
        self.wait_for(selector)

    def wait_for(self, selector):
        mounted.wait_until(lambda: self.run("return document.querySelector(arguments[0]) !== null", selector),
                           why=lambda: (selector, self.run("return document.body.innerText")))

    def run(self, script, *arguments):
        """What the script returns; of a promise, what that comes to."""
        return self._ask("/execute/sync", script=script, args=list(arguments))
