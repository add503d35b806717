# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md against the sources: rooms and their includes, files, names, locks, errnos."""

import collections
import errno
import functools
import os
import re

from pages import ROOT, read

PAGE = os.path.join("docs", "architecture.md")
BOUNDARY = "format/include/tfile"


@functools.cache
def sources():
    """{path: text} of format/ and fs/."""
    return {
        os.path.relpath(os.path.join(folder, name), ROOT): read(os.path.join(folder, name))
        for top in ("format", "fs")
        for folder, _, names in os.walk(os.path.join(ROOT, top))
        for name in names
        if name.endswith((".h", ".cpp"))
    }


def code(text):
    """The text without comments and strings."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', re.sub(r"//[^\n]*", "", text))


def table(heading):
    """The rows of the table below a heading of the page, each a list of cells; without the row of column names."""
    section = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", read(PAGE), re.MULTILINE | re.DOTALL).group(1)
    first = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE).group(0).splitlines()
    return [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in first[2:]]


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def difference(found, told):
    found, told = collections.Counter(found), collections.Counter(told)
    lines = [f"not on the page: {each}" for each in found - told] + [f"not in the sources: {each}" for each in told - found]
    return "\n".join(sorted(lines))


# ---- rooms


def room_of(path):
    return path if path == "fs/main.cpp" else os.path.dirname(path)


def includes():
    """(path, room, included path) of all quoted #includes."""
    for path, text in sources().items():
        for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            top = path.split("/")[0]
            places = [os.path.join(top, name), os.path.join("format/include", name)]
            found = [place for place in places if place in sources()]
            assert found, f'{path} includes "{name}", which is no file of {top}/ nor of format/include'
            yield path, room_of(path), found[0]


def test_rooms_are_those_of_the_page():
    assert {spans(room)[0] for room, *_ in table("Rooms")} == {room_of(path) for path in sources()}


def test_rooms_include_what_the_page_allows():
    """In both directions: a room only includes what it may use, and includes something of everything it may use."""
    allowed = {spans(room)[0]: set(spans(uses)) for room, _, uses in table("Rooms")}
    used = collections.defaultdict(set)
    wrong = []
    for path, room, target in includes():
        other = room_of(target)
        if other == room:
            continue
        used[room].add(other)
        if other not in allowed[room]:
            wrong.append(f"{path} includes {target}: {room} does not use {other}")
    assert not wrong, "\n".join(sorted(wrong))
    unused = [f"{room} uses nothing of {other}" for room in allowed for other in allowed[room] - used[room]]
    assert not unused, "\n".join(sorted(unused))


def test_rooms_use_those_of_lower_levels():
    page = read(PAGE)
    levels = {}
    for level, *columns in re.findall(r"^\| (\d+) \|(.*)\|(.*)\|$", page, re.MULTILINE):
        for room in spans("".join(columns)):
            levels[room] = int(level)
    for room, _, uses in table("Rooms"):
        for other in spans(uses):
            assert levels[other] < levels[spans(room)[0]], f"{room} uses {other}, which stands beside or above it"
    assert levels.keys() == {spans(room)[0] for room, *_ in table("Rooms")}


def test_no_room_includes_the_libraries_of_plots():
    """They may be left out of a build: what they have for others is declared beside what takes their place."""
    plots = {"format/plot", "fs/plot"}
    wrong = [f"{path} includes {target}" for path, room, target in includes() if room_of(target) in plots - {room}]
    assert not wrong, "\n".join(sorted(wrong))
    for interface, instead in (("format/object/object_plots.h", "format/object/no_plots.cpp"), ("fs/query/pictures.h", "fs/query/no_pictures.cpp")):
        users = {room for _, room, target in includes() if target == interface}
        assert users & plots and users - plots and os.path.exists(os.path.join(ROOT, instead))


def test_libraries_are_used_where_the_page_says():
    headers = {spans(header)[0]: set(spans(rooms)) for _, header, rooms, _ in table("Dependencies")}
    found = collections.defaultdict(set)
    unknown = set()
    for path, text in sources().items():
        for name in re.findall(r"^#include <([^>]+)>", text, re.MULTILINE):
            known = next((header for header in headers if name.startswith(header)), None)
            if known:
                found[known].add(room_of(path))
            elif "/" in name and not name.startswith(("sys/", "linux/", "arpa/", "netinet/", "sanitizer/")):
                unknown.add(f"{path}: <{name}>")
    assert not unknown, "libraries that the page does not name: " + ", ".join(sorted(unknown))
    assert found == headers


# ---- sources that are compiled together


def file_local_names(text):
    """Names that a .cpp declares for itself: at the outermost level of its unnamed namespaces. Aliases of a type are
    left out, since equal ones may stand twice, and others do not compile."""
    inside = False
    for line in text.splitlines():
        if line in ("namespace {", "}  // namespace"):
            inside = line == "namespace {"
        if not inside or re.match(r"[ }/#:]|namespace|using|$", line):
            continue
        line = re.sub(r"\[\[.*?\]\]\s*|\balignas\([^()]*\)\s*", "", line)
        line = re.sub(r"^template\s*<.*?>\s*(?=struct|class|\w)", "", line)
        kind = re.match(r"(?:struct|class|enum(?: class)?|union|concept)\s+(\w+)", line)
        while "<" in line and (shorter := re.sub(r"<[^<>]*>", "", line)) != line:
            line = shorter
        named = kind or re.match(r"[^=({;\[]*?\b(\w+)\s*[=({;\[]", line)
        if named and not re.match(rf"[^=({{;\[]*::\s*{named.group(1)}\s*\(", line):
            yield named.group(1)


def test_file_local_names_are_found():
    lines = ("int a(int x) {", "constexpr int b = 3;", "template <typename T>\nstd::vector<T> c(", "[[noreturn]] void d(const char* x) {",
             "struct alignas(64) e {", "class [[nodiscard]] f {", "const std::map<int, int> g{", "  int inner;", "using h = int;")
    assert "".join(file_local_names("\n".join(("namespace {", *lines, "}  // namespace", "int outer;")))) == "abcdefg"


def test_file_local_names_are_unique_in_a_room():
    """A room's files may be compiled together, as CMakeLists.txt does: there the same name would be of one thing."""
    files = collections.defaultdict(set)
    for path, text in sources().items():
        if path.endswith(".cpp"):
            for name in file_local_names(text):
                files[room_of(path), name].add(os.path.basename(path))
    assert len(files) > 1000
    twice = [f"{room}: {name} in {', '.join(sorted(found))}" for (room, name), found in sorted(files.items()) if len(found) > 1]
    assert not twice, "\n".join(twice)


def test_file_local_names_are_none_that_a_header_brings():
    """A header that is read behind such a file would have two things of its name."""
    brought = {name: path for path, text in sources().items() if path.endswith(".h") and path.startswith("fs/")
               for name in re.findall(r"^using tfile::(\w+);", text, re.MULTILINE)}
    assert len(brought) > 5
    hidden = [f"{path}: {name} is what {brought[name]} brings" for path, text in sources().items()
              if path.endswith(".cpp") and path.startswith("fs/") for name in file_local_names(text) if name in brought]
    assert not hidden, "\n".join(hidden)


# ---- names


@functools.cache
def words():
    """{path: set of identifiers in its code}"""
    return {path: set(re.findall(r"\w+", re.sub(r"//[^\n]*", "", text))) for path, text in sources().items()}


def exists(name):
    """Whether a C++ name is in the sources (all parts of A::b in one file), or is one of ROOT's names in format.md."""
    if re.fullmatch(r"[Tf][A-Z]\w+", name) and re.search(rf"\b{name}\b", read(os.path.join("docs", "format.md"))):
        return True
    return any(set(name.removesuffix("()").split("::")) <= found for found in words().values())


def test_files_that_the_page_names_exist():
    there = {os.path.basename(path) for path in sources()}
    named = set(spans(re.sub(r"^```.*?^```", "", read(PAGE), flags=re.MULTILINE | re.DOTALL)))
    paths = {name for name in named if re.fullmatch(r"(format|fs|tests|bench|packaging|docs)(/[\w.]*)*", name)}
    files = {name for name in named if re.fullmatch(r"\w+\.(h|cpp|py)", name)} - LIBRARY_HEADERS
    assert len(paths) > 100 and len(files) > 15
    missing = [path for path in paths if not os.path.exists(os.path.join(ROOT, path))] + [name for name in files if name not in there]
    assert not missing, f"{PAGE} names {', '.join(sorted(missing))}"


LIBRARY_HEADERS = {"arrow_generated.h", "fuse_lowlevel.h", "libdeflate.h", "expat.h", "zlib.h", "lzma.h", "zstd.h", "xxhash.h"}


def test_names_that_the_page_gives_exist():
    """Functions, types, constants, and ROOT's names, which the code cites; `a.cpp` (`f`) means that f is in a.cpp."""
    page = read(PAGE)
    checked = 0
    for name in spans(page):
        name = re.sub(r"<.*>$", "", name)
        if not re.fullmatch(r"[A-Za-z]\w*(::~?\w+)*(\(\))?", name) or name.startswith("std::") or name in NO_NAMES:
            continue
        checked += 1
        assert exists(name), f"{PAGE} names {name}"
    assert checked > 150
    for path, name in re.findall(r"`([\w/]+\.(?:h|cpp))` \(`([A-Za-z]\w*(?:::\w+)*)`\)", page):
        found = [text for at, text in words().items() if at == path or at.endswith("/" + path)]
        assert any(set(name.split("::")) <= text for text in found), f"{PAGE}: {path} does not have {name}"


def steps(heading):
    """[(number, text)] of the numbered steps below a heading of the page."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## )", read(PAGE), re.MULTILINE | re.DOTALL).group(1)
    found = re.findall(r"^(\d+)\. (.*?)(?=^\S|\Z)", section, re.MULTILINE | re.DOTALL)
    return [(int(number), text) for number, text in found]


def is_in(name, path):
    """Whether the file has the function, type or constant: all parts of A::b, and b with its arguments."""
    called = name.split("::")[-1]
    text = code(sources()[path])
    return set(name.split("::")) <= words()[path] and (called[0].isupper() or bool(re.search(rf"\b{called}\b *[({{;]", text)))


def test_each_step_of_a_read_is_where_the_page_says():
    found = steps("How a read works")
    assert [number for number, _ in found] == list(range(1, 11))
    checked = 0
    for number, text in found:
        files = [span for span in spans(text) if "/" in span and span.endswith((".h", ".cpp"))]
        assert files and all(path in sources() for path in files), f"step {number}: {files}"
        for name in spans(text):
            if re.fullmatch(r"[A-Za-z]\w*(::\w+)*", name):
                checked += 1
                assert any(is_in(name, path) for path in files), f"step {number}: {name} is in none of {', '.join(files)}"
    assert checked > 50


NO_NAMES = {
    *(spans(row[1])[0] for row in table("Dependencies")),  # headers of libraries
    "format", "fs", "tfilefs_core",
}


ROOT_NAMES = {  # names that a reader who knows ROOT would look for
    PAGE: "TKey TDirectoryFile TTree TNtuple TBranch TBranchElement TLeaf TBasket TStreamerInfo TStreamerElement TFree TFile "
          "fBasketEntry fEntryOffset fClusterRangeEnd fAutoFlush",
    os.path.join("docs", "format.md"): "TFile TKey TDirectoryFile TFree TStreamerInfo TStreamerElement TTree TBranch TBranchElement "
                                       "TLeaf TBasket TClonesArray fSeekFree fSeekInfo fObjlen fKeylen fBasketSeek fBasketBytes "
                                       "fBasketEntry fEntryOffset fEntryOffsetLen fDisplacement fNevBuf fLast fIOBits "
                                       "fClusterRangeEnd fAutoFlush fType fStreamerType",
}


def test_pages_cite_the_names_of_root():
    for page, names in ROOT_NAMES.items():
        text = read(page)
        missing = [name for name in names.split() if not re.search(rf"\b{name}\b", text)]
        assert not missing, f"{page} does not name {', '.join(missing)}"


# ---- locks


MUTEX = re.compile(r"^\s*(?:mutable |static )*Mutex (\w+)\s*(?:\{(.*?)\})?(?: GUARDED_BY.*?)?;", re.MULTILINE | re.DOTALL)
OTHER_LOCK = re.compile(r"^\s*(?:mutable |static )*std::(?:once_flag|mutex|shared_mutex) (\w+);", re.MULTILINE)
GROUP = "a read"


def declared_mutexes():
    """{name: (file, what may be taken while it is held, group)} of all in the sources."""
    found = {}
    for path, text in sources().items():
        for member, arguments in MUTEX.findall(text) if path != "format/include/tfile/mutex.h" else ():
            texts = ["".join(re.findall(r'"([^"]*)"', argument)) for argument in re.split(r'(?<="),', arguments)]
            name, inner, group = (texts + ["", ""])[:3]
            assert name.split("::")[-1] == member, f"{path}: {member} is named {name or 'not at all'}"
            found[name] = (path, sorted(filter(None, inner.split(", "))), group)
    return found


def test_locks_are_those_of_the_page():
    rows = {spans(name)[0]: (spans(file)[0], sorted(spans(inner) + [GROUP] * inner.strip().endswith(GROUP)))
            for name, file, _, inner in table("Locks")}
    mutexes = {name: row[:2] for name, row in declared_mutexes().items()}
    assert mutexes == {name: row for name, row in rows.items() if name in mutexes}
    others = sorted((path, name) for path, text in sources().items() for name in OTHER_LOCK.findall(text) if path != "format/include/tfile/mutex.h")
    assert others == sorted((file, name.split("::")[-1]) for name, (file, _) in rows.items() if name not in mutexes)
    for name, (file, _) in rows.items():
        owner = name.split("::")[0]
        assert re.search(rf"\b{owner}\b", code(sources()[file])), f"{file} has no {owner}"


def read_locks():
    """What "a read" stands for, as the page says."""
    return set(spans(re.search(r'^"A read" stands for .*?\n\n', read(PAGE), re.MULTILINE | re.DOTALL).group()))


def test_locks_of_reads_are_those_of_the_page():
    assert read_locks() == {name for name, (_, _, group) in declared_mutexes().items() if group == GROUP}
    assert {group for _, _, group in declared_mutexes().values()} == {"", GROUP}


def test_locks_are_taken_in_the_order_of_the_page():
    order = [spans(name)[0] for name, *_ in table("Locks")]
    assert len(order) == len(set(order))
    for name, _, _, inner in table("Locks"):
        for other in spans(inner) + sorted(read_locks()) * inner.strip().endswith(GROUP):
            assert order.index(other) > order.index(spans(name)[0]), f"{other} is taken while {name} is held, and stands above it"
    held_longer = re.search(r"These are held longer:\n\n((?:\|.*\n)+)", read(PAGE)).group(1).splitlines()[2:]
    assert {name for line in held_longer for name in spans(line.split("|")[1])} <= set(order)


# ---- errors


NUMBERS = {*errno.errorcode.values(), "EDEADLK", "ENOTSUP", "EOPNOTSUPP", "EWOULDBLOCK"}


def test_kinds_become_the_errnos_of_the_page():
    found, kinds = {}, []
    for kind, number in re.findall(r"case ErrorKind::(\w+):|return (E[A-Z]+);", sources()["fs/fuse/errno.cpp"].split("switch")[1]):
        if kind:
            kinds.append(kind)
        else:
            found.update(dict.fromkeys(kinds, number))
            kinds = []
    assert found == {spans(kind)[0]: number for kind, number in table("From kind to errno")}
    declared = re.search(r"enum class ErrorKind[^{]*\{(.*?)\};", sources()["format/include/tfile/result.h"], re.DOTALL).group(1)
    assert set(found) == set(re.findall(r"(\w+),", re.sub(r"//[^\n]*", "", declared)))


def test_errnos_are_made_where_the_page_says():
    """Errnos that are only compared with the result of a system call do not count."""
    found = set()
    for path, text in sources().items():
        made = re.sub(r"\b(?:\w*errno|number) [=!]= E[A-Z]+|case E[A-Z]+:", "", code(text))
        for number in set(re.findall(r"\bE[A-Z]{2,}\b", made)) & NUMBERS:
            if path != "fs/fuse/errno.cpp":
                found.add((number, path))
    made_in = {path for _, path in found if not path.startswith("fs/fuse/")}
    assert made_in == {"fs/errors.h", "format/include/tfile/result.h", "format/include/tfile/errnos.h"}
    told = {(number, path) for number, places, _ in table("Where else an errno is made") for path in spans(places)}
    assert found == told, difference(found, told)
