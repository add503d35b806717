#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables through their views, in interleaved rounds: makes its files, prints all figures.

  warm     DuckDB's avg of a column of TABLE.parquet and polars' sum of one of TABLE.arrow against native files of the
           same content in the page cache; how many bytes of a view are generated
  cold     the same questions through a fresh mount, against uproot that reads the column and hands it to the tool
  jagged   the sum over two jagged columns of a table of 1,520 branches, and of one of long columns, by .awkward.json
           against uproot's arrays, cold and again
  opening  a table of 1,520 branches by ak.from_buffers: all of it, two columns, and the time of Awkward Array
           for as many arrays that are already in memory
  wide     views of tables of 1,000 and 10,000 branches, opened through a fresh mount
  groups   a condition on a sorted column of TABLE.parquet, in a fresh mount, before and after the column's statistics
           were read: time, and the row groups and bytes of either column that were read

views.py [PART ...] [--rounds N] [--entries N] [--codecs zlib,lz4,zstd,none]

TFILEFS_BIN names the program; files are kept in ~/.cache/tfilefs-bench"""

import argparse
import gc
import json
import os
import tempfile

import awkward as ak
import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import uproot

import metadata
import rounds
from mount import Mount
from root_program import compiled, made

CODECS = {"zlib": uproot.ZLIB(1), "lz4": uproot.LZ4(4), "zstd": uproot.ZSTD(5), "none": None}
NANO_ENTRIES, NANO_CODES = 50_000, {"zlib": 101, "lz4": 404, "zstd": 505, "none": 0}
JAGGED = ("C00_f00", "C00_f01")
BATCH = 1_000_000


def written(name, codec, entries, types, batch):
    """A file of the cache directory; if it does not exist, uproot writes it. `batch(n)` returns the arrays of n
    entries."""
    path = os.path.join(rounds.cache_directory(), f"{name}-{codec}-{entries}.root")
    if not os.path.exists(path):
        with uproot.recreate(path + ".tmp", compression=CODECS[codec]) as file:
            file.mktree("t", types)
            for begin in range(0, entries, BATCH):
                file["t"].extend(batch(min(BATCH, entries - begin)))
        os.rename(path + ".tmp", path)
    return path


def flat_file(codec, entries):
    random = np.random.default_rng(1)

    def batch(count):
        return {"x": np.floor(random.exponential(640, count)).astype("f4") / 16, "y": random.random(count)}

    return written("views", codec, entries, {"x": "f4", "y": "f8"}, batch)


def jagged_file(codec, entries):
    random = np.random.default_rng(2)

    def batch(count):
        counts = random.integers(0, 4, count)
        lists = [np.floor(random.exponential(640, counts.sum())).astype("f4") / 16 for _ in JAGGED]
        return {"C00": ak.zip({"f00": ak.unflatten(lists[0], counts), "f01": ak.unflatten(lists[1], counts)})}

    return written("jagged", codec, entries, {"C00": "var * {f00: float32, f01: float32}"}, batch)


def average(path):
    return duckdb.sql(f"select avg(x) from '{path}'").fetchall()[0][0]


def total(path):
    return polars.scan_ipc(path).select(polars.col("x").sum()).collect().item()


def make_native(view, parquet, arrow):
    table = pa.ipc.open_file(pa.memory_map(view + ".arrow")).read_all()
    pyarrow.parquet.write_table(table, parquet, compression="none", use_dictionary=False)
    with pa.ipc.new_file(arrow, table.schema) as file:
        file.write_table(table)


def generated_share(view, table):
    columns = sum(os.path.getsize(os.path.join(table, name)) for name in os.listdir(table))
    return (os.path.getsize(view) - columns) / os.path.getsize(view)


def decoded_branches(mount):
    with open(os.path.join(mount, ".tfilefs", "stats.json")) as file:
        return [branch["branch"] for table in json.load(file)["tables"] for branch in table["branches"] if branch["chunks_decoded"]]


def warm(options):
    with Mount(flat_file("zstd", options.entries)) as mount, tempfile.TemporaryDirectory(dir=rounds.cache_directory()) as native:
        view = os.path.join(mount.path, "t")
        average(view + ".parquet")
        print(f"\ndecoded for DuckDB's avg(x) of x and y: {', '.join(decoded_branches(mount.path))}")
        parquet, arrow = os.path.join(native, "t.parquet"), os.path.join(native, "t.arrow")
        make_native(view, parquet, arrow)
        for title, ask, paths in (
            ("DuckDB: avg of a column", average, {"native Parquet": parquet, "TABLE.parquet": view + ".parquet"}),
            ("polars: sum of a column", total, {"native Arrow": arrow, "TABLE.arrow": view + ".arrow"}),
        ):
            for path in paths.values():
                ask(path)  # reads it into the page cache
            questions = {name: lambda path=path: rounds.seconds_in(lambda: ask(path)) for name, path in paths.items()}
            rounds.report(f"{title} of {options.entries} rows, warm", rounds.run(options.rounds, questions))
        for suffix in (".parquet", ".arrow"):
            print(f"generated bytes of TABLE{suffix}: {generated_share(view + suffix, view) * 100:.4f} %")


def through_fresh_mount(path, ask):
    """Seconds of ask(mount's path), without those of the mount and its first listing."""
    with Mount(path) as mount:
        os.listdir(os.path.join(mount.path, "t"))
        return rounds.seconds_in(lambda: ask(os.path.join(mount.path, "t")))


def uproot_column(path):
    with uproot.open(path) as file:
        return file["t"]["x"].array(library="np")


def uproot_average(path):
    columns = pa.table({"x": uproot_column(path)})
    return duckdb.sql("select avg(x) from columns").fetchall()[0][0]


def uproot_total(path):
    return polars.Series(uproot_column(path)).sum()


def cold(options):
    for codec in options.codecs:
        path = flat_file(codec, options.entries)
        rounds.warm(path)
        with Mount(path) as mount:
            assert abs(average(os.path.join(mount.path, "t.parquet")) / uproot_average(path) - 1) < 1e-6
        for title, ask, suffix, peer in (("DuckDB: avg", average, ".parquet", uproot_average), ("polars: sum", total, ".arrow", uproot_total)):
            rounds.report(f"{codec}: {title} of a column of {options.entries} rows, cold", rounds.run(options.rounds, {
                "TABLE" + suffix + ", fresh mount": lambda: through_fresh_mount(path, lambda table: ask(table + suffix)),
                "uproot, and handed over": lambda: rounds.seconds_in(lambda: peer(path)),
            }))


def awkward_view(table):
    """The form as a dictionary, the length, and a function that opens each buffer."""
    with open(os.path.join(table, ".awkward.json")) as file:
        view = json.load(file)
    files = {key: lambda f=f: np.load(f"{table}/{f}.npy", mmap_mode="r").reshape(-1) for key, f in view["files"].items()}
    return view["form"], view["length"], files


def columns_of(view):
    """Two columns, each by itself."""
    form, length, files = view
    forms = dict(zip(form["fields"], form["contents"]))
    return {name: ak.from_buffers(forms[name], length, files) for name in JAGGED}


def sum_of_two(events):
    return float(ak.sum(events[JAGGED[0]]) + ak.sum(events[JAGGED[1]]))


def sum_by_view(table):
    return sum_of_two(columns_of(awkward_view(table)))


def sum_by_uproot(path):
    with uproot.open(path) as file:
        return sum_of_two(file["t"].arrays(JAGGED))


def jagged(options):
    for codec in options.codecs:
        nano = os.path.join(rounds.cache_directory(), f"nano-{codec}-{NANO_ENTRIES}.root")
        made(nano, compiled("wide_peers"), "make", "PATH", str(NANO_CODES[codec]), str(NANO_ENTRIES))
        for title, path in (("1,520 branches, 50,000 entries", nano), (f"{options.entries // 4} entries", jagged_file(codec, options.entries // 4))):
            rounds.warm(path)
            with Mount(path) as mount, uproot.open(path) as file:
                table, tree = os.path.join(mount.path, "t"), file["t"]
                assert abs(sum_by_view(table) / sum_by_uproot(path) - 1) < 1e-6
                rounds.report(f"{codec}: sum over two jagged columns, {title}", rounds.run(options.rounds, {
                    ".awkward.json, fresh mount": lambda: through_fresh_mount(path, sum_by_view),
                    "uproot, file opened": lambda: rounds.seconds_in(lambda: sum_by_uproot(path)),
                    ".awkward.json, again": lambda: rounds.seconds_in(lambda: sum_by_view(table)),
                    "uproot, of its open file again": lambda: rounds.seconds_in(lambda: sum_of_two(tree.arrays(JAGGED))),
                }))


def arrays_of(form, length):
    """Zeros for each buffer of a form of lists and numbers."""
    if isinstance(form, ak.forms.RecordForm):
        return {key: array for content in form.contents for key, array in arrays_of(content, length).items()}
    if isinstance(form, ak.forms.ListOffsetForm):
        return {form.form_key + "-offsets": np.zeros(length + 1, "i8"), **arrays_of(form.content, 0)}
    return {form.form_key + "-data": np.zeros(length, ak.types.numpytype.primitive_to_dtype(form.primitive))}


def uncollected(question):
    """Seconds of a question with Python's garbage collector disabled."""
    gc.disable()
    try:
        return rounds.seconds_in(question)
    finally:
        gc.enable()


def opening(options):
    nano = os.path.join(rounds.cache_directory(), f"nano-zlib-{NANO_ENTRIES}.root")
    made(nano, compiled("wide_peers"), "make", "PATH", "101", str(NANO_ENTRIES))
    with Mount(nano) as mount:
        table = os.path.join(mount.path, "t")
        view = awkward_view(table)
        form, length, files = ak.forms.from_dict(view[0]), view[1], view[2]
        in_memory = arrays_of(form, length)
        numbers = [np.zeros(length, "f4") for _ in form.fields]
        rounds.report(f"Awkward Array: a table of {len(form.fields)} branches, {len(files)} buffers", rounds.run(options.rounds, {
            "all columns of the view": lambda: rounds.seconds_in(lambda: ak.from_buffers(form, length, files)),
            "the same, garbage collector off": lambda: uncollected(lambda: ak.from_buffers(form, length, files)),
            "two columns of the view, chosen": lambda: rounds.seconds_in(lambda: ak.from_buffers(form.select_columns(JAGGED), length, files)),
            "two columns, each by itself": lambda: rounds.seconds_in(lambda: columns_of(view)),
            "all, from arrays in memory": lambda: rounds.seconds_in(lambda: ak.from_buffers(form, length, in_memory)),
            "one NumpyArray a branch, no more": lambda: rounds.seconds_in(lambda: [ak.contents.NumpyArray(array) for array in numbers]),
            "reading .awkward.json": lambda: rounds.seconds_in(lambda: awkward_view(table)),
            "making a form of it": lambda: rounds.seconds_in(lambda: ak.forms.from_dict(view[0])),
        }))


def whole(path):
    with open(path, "rb") as file:
        return file.read()


def ends_of(path):
    with open(path, "rb", buffering=0) as file:
        return file.read(16), os.pread(file.fileno(), 16, os.path.getsize(path) - 16)


def arrow_schema(path):
    with pa.memory_map(path) as file:
        return pa.ipc.open_file(file).schema


VIEWS = {
    "ls": lambda table: os.listdir(table),
    ".schema.json": lambda table: whole(table + "/.schema.json"),
    ".awkward.json": lambda table: whole(table + "/.awkward.json"),
    "both ends of TABLE.arrow": lambda table: ends_of(table + ".arrow"),
    "TABLE.arrow, pyarrow's schema": lambda table: arrow_schema(table + ".arrow"),
    "both ends of TABLE.parquet": lambda table: ends_of(table + ".parquet"),
    "TABLE.parquet, pyarrow's metadata": lambda table: pyarrow.parquet.read_metadata(table + ".parquet"),
}


def wide(options):
    for branches in (1000, 10000):
        path = metadata.source(branches, 1)

        def open_view(ask):
            with Mount(path) as mount:
                return rounds.seconds_in(lambda: ask(os.path.join(mount.path, "t")))

        rounds.report(f"a table of {branches} branches, opened through a fresh mount",
                      rounds.run(options.rounds, {name: lambda ask=ask: open_view(ask) for name, ask in VIEWS.items()}))


def sorted_file(codec, entries):
    """Times that ascend, and a value of each."""
    random, begin = np.random.default_rng(3), 0

    def batch(count):
        nonlocal begin
        begin += count
        return {"time": np.arange(begin - count, begin) / 1000, "value": random.normal(size=count)}

    return written("sorted", codec, entries, {"time": "f8", "value": "f8"}, batch)


BETWEEN = {  # the sum of `value` where `time` is in a range
    "DuckDB": lambda view, least, most: duckdb.sql(f"select sum(value) from '{view}' where time between {least} and {most}").fetchall()[0][0],
    "polars": lambda view, least, most: polars.scan_parquet(view).filter(
        polars.col("time").is_between(least, most)).select(polars.col("value").sum()).collect().item(),
    "pyarrow": lambda view, least, most: pa.compute.sum(pyarrow.parquet.read_table(
        view, columns=["value"], filters=[("time", ">=", least), ("time", "<=", most)])["value"]).as_py(),
}


def bytes_asked(mount):
    with open(os.path.join(mount, ".tfilefs", "stats.json")) as file:
        return {branch["branch"]: branch["bytes_asked"] for table in json.load(file)["tables"] for branch in table["branches"]}


def between(path, ask, has_statistics):
    """Seconds of a condition that a hundredth of the rows fulfil, its answer, the bytes of each column that it read, and
    how many row groups the view has."""
    with Mount(path) as mount:
        table = os.path.join(mount.path, "t")
        if has_statistics:
            whole(table + "/time.stats.json")
        footer = pyarrow.parquet.read_metadata(table + ".parquet")
        least = footer.num_rows // 2 / 1000
        before, answers = bytes_asked(mount.path), []
        seconds = rounds.seconds_in(lambda: answers.append(ask(table + ".parquet", least, least + footer.num_rows / 100_000)))
        read = {name: asked - before.get(name, 0) for name, asked in bytes_asked(mount.path).items()}
        return seconds, answers[0], read, footer.num_row_groups


def groups(options):
    path = sorted_file("zstd", options.entries)
    rounds.warm(path)
    print(f"\nbetween two times, a hundredth of {options.entries} rows: read in a fresh mount")
    for name, ask in BETWEEN.items():
        found = {title: between(path, ask, has) for title, has in (("without statistics", False), ("with statistics", True))}
        (_, first, _, _), (_, second, _, _) = found.values()
        assert abs(first / second - 1) < 1e-9
        notes = {}
        for title, (_, _, read, count) in found.items():
            size = options.entries * 8 / count
            notes[title] = ", ".join(f"{branch}: {read.get(branch, 0) / size:.1f} of {count} row groups, "
                                     f"{read.get(branch, 0) / 1e6:.1f} MB" for branch in ("time", "value"))
        rounds.report(f"{name}: a condition on a sorted column", rounds.run(options.rounds, {
            title: lambda has=has: between(path, ask, has)[0] for title, has in zip(found, (False, True))}), notes)


PARTS = {"warm": warm, "cold": cold, "jagged": jagged, "opening": opening, "wide": wide, "groups": groups}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--codecs", type=lambda text: text.split(","), default=list(CODECS))
    options = parser.parse_args()
    for part in options.parts or PARTS:
        PARTS[part](options)


main()
