# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site from what packaging/site/stage.py has laid down."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["TFILEFS_ROOT"], "packaging", "python", "src"))

project = "tfilefs"
version = release = os.environ["TFILEFS_VERSION"]
html_title = f"tfilefs {version}"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 6
html_theme = "furo"
html_show_copyright = html_show_sphinx = html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
# A reader searches; an index of the package alone would be taken for one of the site.
html_use_index = html_domain_indices = False
# Quotes are those of code as often as not.
smartquotes = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_legacy_class_based = False


def spelled(paragraph):
    """A paragraph of a docstring, which is plain text, in reStructuredText: code stays code, and a star is no emphasis."""
    if all(line.startswith("    ") for line in paragraph.split("\n")):
        return ".. code-block:: python\n\n" + paragraph
    parts = re.split(r"(`[^`]+`)", paragraph)
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts)


def spell_docstring(app, what, name, obj, options, lines):
    # Sphinx takes the margin of a module's example for that of its text.
    text = obj.__doc__.strip() if what == "module" else "\n".join(lines)
    lines[:] = "\n\n".join(spelled(paragraph) for paragraph in text.split("\n\n")).split("\n")


def setup(app):
    app.connect("autodoc-process-docstring", spell_docstring)
