# SPDX-License-Identifier: Apache-2.0
"""The page of `tfilefs browse` in Chromium: from the start of the program to the tree that is drawn, of tables of 1,520 and 10,000
branches; from the choice of a column of 80 MB, which the server has not decoded yet (cold), or has summarized (warm), to its
histogram; bytes of the page.

browse.py [--rounds N] [--entries N] [--branches N,...]     TFILEFS_BIN names the program; files are those of column_read.py and listing.py

The browser runs before the clock does, and has the page not in its cache. What is drawn is looked at once for each frame, so times are
16 ms too long at most. Needs chromium and chromedriver."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

import rounds
from column_read import CODECS, make_files
from listing import make_file

sys.path.insert(0, os.path.join(rounds.HERE, "..", "..", "tests"))
from pages_of_browser import Browser  # noqa: E402

PAGE = os.path.join(rounds.HERE, "..", "..", "fs", "http", "page")
# Comes to its end in the first frame that has so many of them.
DRAWN = """const [selector, count] = arguments;
return new Promise((done) => {
  const look = () => (document.querySelectorAll(selector).length >= count ? done(true) : requestAnimationFrame(look));
  look();
});"""

# Milliseconds until there is a picture, and until it is of all values.
CHOSEN = """const begin = performance.now(), times = [];
location.hash = '#' + arguments[0];
return new Promise((done) => {
  const look = () => {
    if (!times.length && document.querySelector('svg.plot')) times.push(performance.now() - begin);
    if (times.length && !document.querySelector("figure[aria-busy='true']")) return done([...times, performance.now() - begin]);
    requestAnimationFrame(look);
  };
  look();
});"""


@contextlib.contextmanager
def browsed(path):
    """URL of the page."""
    process = subprocess.Popen([rounds.program(), "browse", "-n", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def seconds_to(browser, url, selector, count=1):
    begin = time.perf_counter()
    browser.go(url, "body")
    browser.run(DRAWN, selector, count)
    return time.perf_counter() - begin


def tree(browser, path, branches):
    """Seconds from the start of the program."""
    begin = time.perf_counter()
    with browsed(path) as url:
        # Rows out of sight are not there; those in sight say how many there are.
        seconds_to(browser, url, f".row[aria-level='2'][aria-setsize='{branches}']", 10)
        return time.perf_counter() - begin


def histogram(browser, path):
    """Seconds from the choice of a column to its first picture and to that of all values: of a server that has just begun, and once
    more."""
    found = []
    with browsed(path + ":t") as url:
        for _ in range(2):
            browser.go(url, "main td")
            found += browser.run(CHOSEN, "/t/x.f4")
    return found[0] / 1000, found[1] / 1000, found[3] / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--branches", default="1520,10000")
    parser.add_argument("--codecs", default=",".join(CODECS))
    options = parser.parse_args()
    sizes = {name: os.path.getsize(os.path.join(PAGE, name)) for name in os.listdir(PAGE) if name.endswith((".html", ".css", ".js")) and name != "listing.css"}
    print(f"\nThe page: {sum(sizes.values())} bytes in {len(sizes)} files")
    rounds.keep("Bytes of the page", sizes, "bytes")
    files = make_files(options.entries)
    with tempfile.TemporaryDirectory(prefix="bench-") as directory, Browser(directory) as browser:
        browser.command("Network.setCacheDisabled", cacheDisabled=True)
        counts = [int(each) for each in options.branches.split(",")]
        wide = {count: make_file(count) for count in counts}
        rounds.report("tfilefs browse, to the tree that is drawn", rounds.run(options.rounds, {
            f"{count} branches": lambda count=count: tree(browser, wide[count], count) for count in counts}))
        for name in options.codecs.split(","):
            rounds.warm(files[name])
            first, cold, warm = map(list, zip(*(histogram(browser, files[name]) for _ in range(options.rounds))))
            rounds.report(f"Histogram of a column, {name}", {"of all values, cold": cold, "of the first values, cold": first, "of all values, warm": warm})


if __name__ == "__main__":
    main()
