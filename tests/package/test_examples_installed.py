# SPDX-License-Identifier: Apache-2.0
"""Examples of the pages run as printed after an installation, with nothing of the build on PATH."""

import os
import shutil
import subprocess
import sys

import pytest

import mounted
from conftest import ROOT

sys.path.append(os.path.join(ROOT, "tests", "docs"))
import pages  # noqa: E402
import test_examples  # noqa: E402

CONTRACT = [page for page in pages.contract() if page in test_examples.PAGES]
RECIPES = ["docs/recipes.md", *(page for page in test_examples.PAGES if page.startswith("docs/recipes/"))]


@pytest.mark.parametrize("page", ("README.md", *RECIPES, "docs/service.md", *CONTRACT))
def test_a_page_runs(installed, sample, tmp_path, page):
    shutil.copy(sample, tmp_path)
    tools = f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"
    environment = {"PATH": f"{installed.prefix}/bin:{tools}", "HOME": str(tmp_path), "LC_ALL": "C", "PYTHONWARNINGS": "ignore"}
    assert shutil.which("tfilefs", path=tools) is None
    try:
        test_examples.run_page(page, tmp_path, environment)
    finally:
        for point in ("mnt", "elsewhere"):
            if mounted.is_mount_point(tmp_path / point):
                subprocess.run(["fusermount3", "-u", "-z", tmp_path / point], check=True)
