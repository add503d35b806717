# SPDX-License-Identifier: Apache-2.0
"""What the headers of libtfile declare is what packaging/library/api.txt says: nothing of it changes by accident."""

import difflib
import importlib.util
import os
import re

import pytest

from pages import ROOT, read

spec = importlib.util.spec_from_file_location("api", os.path.join(ROOT, "packaging", "library", "api.py"))
api = importlib.util.module_from_spec(spec)
spec.loader.exec_module(api)


def test_the_api_is_the_one_that_was_agreed():
    changes = list(difflib.unified_diff(read("packaging/library/api.txt").splitlines(), api.api().splitlines(), "api.txt",
                                        "the headers", lineterm="", n=0))
    told = "If this is meant: packaging/library/api.py > packaging/library/api.txt, and a line in CHANGELOG.md."
    assert not changes, "\n".join([*changes, told])


@pytest.mark.parametrize("header, declared", [
    ("int f(int a = 3) noexcept;", [": int f(int a = 3) noexcept"]),
    ("namespace n { inline int f() { return g({1}) + '{'; } }", ["n: inline int f()"]),
    ("struct S { int a = 1, b{2}; };", [": struct S", "S: int a = 1, b{2}"]),
    ("class C { int hidden; public: explicit C(int a) : hidden(a) {} private: void f(); };", [": class C", "C: explicit C(int a)"]),
    ("class C : public B { public: void f(std::span<int> = {}) override; };", [": class C : public B",
                                                                             "C: void f(std::span<int> = {}) override"]),
    ("enum class E { a, b };", [": enum class E { a, b }"]),
    ('template <class T> struct S { T t; };', [": template <class T> struct S", "S: T t"]),
    ('struct CAPABILITY("mutex") M { void lock(); };', [': struct CAPABILITY("mutex") M', "M: void lock()"]),
    ("using F = std::function<void(int)>;  // why", [": using F = std::function<void(int)>"]),
    ("struct A { struct B { int c; }; static A of(); };", [": struct A", "A: struct B", "A::B: int c", "A: static A of()"]),
])
def test_declarations_are_found(header, declared):
    assert api.Reader(api.without_comments(header)).run() == declared


def test_headers_are_those_that_are_installed():
    assert api.installed() == sorted(re.findall(r"^include/tfile/(.*)$", read("packaging/installed-files.txt"), re.MULTILINE))


def test_macros_are_found():
    assert api.macros("#define A(x) \\\n  b\n#include <c>\nint d;\n#  define E\n")[0] == ["A(x)", "E"]
