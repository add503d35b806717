# SPDX-License-Identifier: Apache-2.0
"""Pages as Chromium shows them."""

import shutil
import subprocess


def has_browser():
    return shutil.which("chromium") is not None


def dom(url, directory):
    """The page as HTML, after its scripts have run. `directory`: for what the browser keeps."""
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={directory}/chromium",
                           "--virtual-time-budget=10000", "--dump-dom", url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
