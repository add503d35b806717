# SPDX-License-Identifier: Apache-2.0
"""old_objects.py DIR: DIR/old_objects.root, with objects as ROOT's hand-written streamers of old versions wrote them,
assembled byte by byte. These versions have no StreamerInfo."""

import os
import struct
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.gInterpreter.Declare(r"""
#include <TClass.h>
#include <TFile.h>
#include <TKey.h>
#include <cstring>
#include <vector>

// A key whose payload is `bytes`, stored as it is.
void put(TDirectory* directory, const char* name, const char* class_name, const std::vector<unsigned char>& bytes) {
  auto* key = new TKey(name, "", TClass::GetClass(class_name), int(bytes.size()), directory);
  std::memcpy(key->GetBuffer(), bytes.data(), bytes.size());
  key->WriteFile();
}
""")


def framed(version, *parts):
    body = b"".join(parts)
    return struct.pack(">IH", 0x40000000 | len(body) + 2, version) + body


def text(value):
    return bytes([len(value)]) + value.encode()


def array(kind, values):
    return struct.pack(f">i{len(values)}{kind}", len(values), *values)


TOBJECT = struct.pack(">HII", 1, 0, 0x03000000)
EMPTY_LIST = framed(4, TOBJECT, text(""), struct.pack(">i", 0))
LINE, FILL, MARKER = framed(1, struct.pack(">hhh", 2, 1, 3)), framed(1, struct.pack(">hh", 4, 1001)), framed(1, struct.pack(">hhf", 1, 20, 1.5))
NULL = struct.pack(">I", 0)


def named(name, title):
    return framed(1, TOBJECT, text(name), text(title))


def axis(version, name, bins, low, high, edges=()):
    attributes_version = 3 if version > 3 else 2 if version > 2 else 1
    attributes = struct.pack(">ihhhffff", 510, 1, 1, 62, 0.005, 0.04, 0.03, 1.25)
    if attributes_version > 1:
        attributes += struct.pack(">f", 0.0625)
    if attributes_version > 2:
        attributes += struct.pack(">hh", 1, 62)
    kind = "f" if version < 5 else "d"
    parts = [named(name, "of " + name), framed(attributes_version, attributes), struct.pack(f">i{kind}{kind}", bins, low, high),
             array(kind, edges)]
    if version > 2:
        parts.append(struct.pack(">ii", 0, 0))
    if version > 3:
        parts.append(struct.pack(">?", False) + text("%H:%M"))
    return framed(version, *parts)


def th1(version, axis_version, name, axes, cells):
    kind = "f" if version < 2 else "d"
    given = [axis(axis_version, "xyz"[i] + "axis", *axes[i]) if i < len(axes) else axis(axis_version, "xyz"[i] + "axis", 1, 0, 1)
             for i in range(3)]
    return framed(version, named(name, "made by hand"), LINE, FILL, MARKER, struct.pack(">i", cells), *given,
                  struct.pack(">hh", 0, 1000), struct.pack(">5d", 10, 10, 12, 5, 7), struct.pack(f">3{kind}", -1111, -1111, 0),
                  array(kind, (1, 2)), array("d", range(cells)), text("hist"), EMPTY_LIST)


X, Y, Z = (3, -1.5, 1.5), (2, 0, 4, (0, 1, 4)), (1, 0, 2)


def numbers(count):
    return [i * 0.5 for i in range(count)]


def graph(version, name):
    kind = "f" if version < 2 else "d"
    return framed(version, named(name, "a graph"), LINE, FILL, MARKER, struct.pack(">i", 3), struct.pack(f">3{kind}", 1, 2, 4),
                  struct.pack(f">3{kind}", 3, -1, 2.5), NULL, NULL, struct.pack(f">2{kind}", -1111, -1111))


def objects():
    for version in (1, 2):
        for axis_version in (1, 2, 3, 4, 5):
            name = f"h1_{version}_{axis_version}"
            yield name, "TH1F", framed(1, th1(version, axis_version, name, [X], 5), array("f", numbers(5)))
    two = th1(2, 5, "h2", [X, Y], 20)
    sums = struct.pack(">4d", 1, 2, 3, 4)
    yield "h2_2", "TH2F", framed(2, framed(2, two, sums), array("f", numbers(20)))
    # The first versions derived from both TH1F and TH2.
    yield "h2_1", "TH2F", framed(1, framed(1, two, array("f", numbers(20))), framed(1, sums))
    three = th1(2, 5, "h3", [X, Y, Z], 60)
    att3d = framed(1)
    yield "h3_2", "TH3F", framed(2, framed(2, three, att3d), array("f", numbers(60)))
    for version in (1, 2):
        kind = "f" if version < 2 else "d"
        yield f"profile_{version}", "TProfile", framed(
            version, framed(1, th1(2, 5, "p", [X], 5), array("d", numbers(5))), array("d", (0, 1, 2, 3, 4)),
            struct.pack(f">i2{kind}", 1, -2, 2))
        yield f"graph_{version}", "TGraph", graph(version, "g")
        yield f"errors_{version}", "TGraphErrors", framed(version, graph(version, "g"), struct.pack(f">6{kind}", *range(6)))
        yield f"asymmetric_{version}", "TGraphAsymmErrors", framed(version, graph(version, "g"), struct.pack(f">12{kind}", *range(12)))


def main(directory):
    file = ROOT.TFile(os.path.join(directory, "old_objects.root"), "RECREATE", "", 0)
    for name, class_name, payload in objects():
        ROOT.put(file, name, class_name, ROOT.std.vector["unsigned char"](list(payload)))
    file.Close()


main(sys.argv[1])
