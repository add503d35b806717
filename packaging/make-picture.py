#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-picture.py PROGRAM FILE.svg: the picture of the first page. The commands are run on the sample, in a mount of it;
the plot is the one that the mount draws."""

import os
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
PLOT = "mnt/tracker/layer1/hits/plot.svg"
# What is shown, and what is run for it: ls is told that it writes to a terminal, and the window that the last command opens
# is the plot beside the terminal.
COMMANDS = {
    "tfilefs run.root mnt": None,
    "ls mnt mnt/Events": "ls -C -w 72 -T 0 mnt mnt/Events",
    "od -A d -t f4 -N 32 mnt/Events/energy.f4": None,
    "python3 -c \"import numpy as np; print(np.load('mnt/Events/energy.npy').mean())\"": None,
    f"xdg-open {PLOT}": "true",
}
LINE, LETTER, COLUMNS, EDGE = 17, 7.25, 91, 14  # pixels; letters in a line
TERMINAL_WIDTH = round(COLUMNS * LETTER) + 2 * EDGE
PLOT_WIDTH, PLOT_HEIGHT = 440, 330
FONT = "font: 12px 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre"


def run(program, directory):
    """[(command, lines of its output)], and the plot."""
    os.makedirs(f"{directory}/bin")
    os.makedirs(f"{directory}/mnt")
    os.symlink(os.path.realpath(program), f"{directory}/bin/tfilefs")
    environment = dict(os.environ, LC_ALL="C", PYTHONWARNINGS="ignore",
                       PATH=f"{directory}/bin:{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    subprocess.run([sys.executable, os.path.join(HERE, "make-sample.py"), f"{directory}/run.root"], check=True, env=environment)
    told = []
    try:
        for command, instead in COMMANDS.items():
            done = subprocess.run(["bash", "-c", instead or command], cwd=directory, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=True)
            told.append((command, done.stdout.rstrip("\n").split("\n") if done.stdout else []))
        with open(f"{directory}/{PLOT}", encoding="utf-8") as file:
            return told, file.read()
    finally:
        subprocess.run([program, "umount", f"{directory}/mnt"], check=False)


def text(x, y, words, colour):
    return f'<text x="{x:g}" y="{y:g}" xml:space="preserve" style="{FONT}; fill: {colour}">{escape(words)}</text>'


def draw(told, plot):
    """The terminal on the left, the plot on the right."""
    lines = []
    for command, output in told:
        lines.append((True, command))
        lines += [(False, line) for line in output]
    height = max(2 * EDGE + 24 + LINE * len(lines), PLOT_HEIGHT + 2 * EDGE)
    width = TERMINAL_WIDTH + PLOT_WIDTH + 3 * EDGE
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             "<!-- made by packaging/make-picture.py -->",
             "<title>A mounted ROOT file in a terminal, and a histogram of it that the mount draws</title>",
             f'<rect width="{width}" height="{height}" rx="8" fill="#f3f4f6"/>',
             f'<rect x="{EDGE}" y="{EDGE}" width="{TERMINAL_WIDTH}" height="{height - 2 * EDGE}" rx="6" fill="#16202a"/>']
    parts += [f'<circle cx="{2 * EDGE + 16 * i}" cy="{2 * EDGE}" r="5" fill="{colour}"/>'
              for i, colour in enumerate(("#e5534b", "#d9a53f", "#57ab5a"))]
    for i, (typed, line) in enumerate(lines):
        y = 2 * EDGE + 28 + LINE * i
        if typed:
            parts.append(text(2 * EDGE - 4, y, "$", "#57ab5a"))
            parts.append(text(2 * EDGE - 4 + 2 * LETTER, y, line, "#ffffff"))
        else:
            parts.append(text(2 * EDGE - 4, y, line, "#b6c2cc"))
    x, y = TERMINAL_WIDTH + 2 * EDGE, (height - PLOT_HEIGHT) / 2
    parts.append(re.sub(r"<svg ([^>]*?)width=\"[^\"]*\" height=\"[^\"]*\"",
                        rf'<svg x="{x}" y="{y:g}" \1width="{PLOT_WIDTH}" height="{PLOT_HEIGHT}"', plot, count=1).rstrip("\n"))
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    with tempfile.TemporaryDirectory(prefix="tfilefs-picture-") as directory:
        picture = draw(*run(sys.argv[1], directory))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(picture)


main()
