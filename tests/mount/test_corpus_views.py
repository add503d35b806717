# SPDX-License-Identifier: Apache-2.0
"""The views of every table in a folder of real files, named by TFILEFS_CORPUS: each equals the column files."""

import os

import pytest

import columnar
import mounted_table
from mount.test_arrow import open_arrow
from mount.test_awkward import compare as compare_awkward
from mount.test_awkward import invalid, open_awkward
from mount.test_parquet import open_parquet

CORPUS = os.environ.get("TFILEFS_CORPUS")
pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def tables(shared_mount):
    """Paths of all tables with columns."""
    if not CORPUS:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    mount = shared_mount(os.path.join(CORPUS, "files"))
    found = [path for path in columnar.tables_in(mount.path) if mounted_table.schema_of(path)["columns"]]
    assert len(found) > 100
    return mount.path, found


def compare_all(tables, leaves_of_view, **options):
    top, paths = tables
    problems = []
    for path in paths:
        name = os.path.relpath(path, top)
        try:
            expected = columnar.mount_leaves(path, mounted_table.schema_of(path)["entries"], contradicting=False)
        except OSError:
            continue  # an unreadable column: test_corpus.py reports it
        try:
            different = columnar.differences(expected, leaves_of_view(path), **options)
        except Exception as problem:  # from any reader
            different = [f"{type(problem).__name__}: {str(problem)[:200]}"]
        problems += [f"{name}: {line[:300]}" for line in different]
    return problems


def test_arrow(tables):
    problems = compare_all(tables, lambda path: columnar.arrow_leaves(open_arrow(path + ".arrow"), columnar.optional_nodes(path)))
    assert not problems, f"{len(problems)} problems in {len(tables[1])} tables:\n" + "\n".join(problems[:60])


def test_parquet(tables):
    problems = compare_all(tables, lambda path: columnar.arrow_leaves(open_parquet(path + ".parquet"), columnar.optional_nodes(path)), shapes_are_lists=True)
    assert not problems, f"{len(problems)} problems in {len(tables[1])} tables:\n" + "\n".join(problems[:60])


def test_awkward(tables):
    """Of one table in four: it is read from the column files, as they are."""
    top, paths = tables
    paths = paths if os.environ.get("TFILEFS_CORPUS_ALL") else paths[::4]
    problems = []
    for path in paths:
        try:
            problems += [f"{os.path.relpath(path, top)}: {line[:300]}" for line in compare_awkward(path)]
        except OSError:
            continue  # an unreadable column: test_corpus.py reports it
        except Exception as problem:  # from the reader
            problems.append(f"{os.path.relpath(path, top)}: {type(problem).__name__}: {str(problem)[:200]}")
    assert not problems, f"{len(problems)} problems in {len(paths)} tables:\n" + "\n".join(problems[:60])


def has_unions(path):
    return any(column["role"] == "tags" for column in mounted_table.schema_of(path)["columns"])


def test_awkward_forms_are_valid(tables):
    """Of all tables with unions, and of one in four of the others (those that test_awkward does not take)."""
    top, paths = tables
    chosen = paths if os.environ.get("TFILEFS_CORPUS_ALL") else [path for i, path in enumerate(paths) if i % 4 == 2 or has_unions(path)]
    problems, valid = [], 0
    for path in chosen:
        try:
            errors = invalid(open_awkward(path))
        except OSError:
            continue  # an unreadable column: test_corpus.py reports it
        except Exception as problem:  # from the reader
            errors = {type(problem).__name__: str(problem)}
        valid += not errors
        problems += [f"{os.path.relpath(path, top)}: {name}: {error[:300]}" for name, error in errors.items()]
    assert not problems, f"{len(problems)} problems in {len(chosen)} tables:\n" + "\n".join(problems[:60])
    assert valid > 80
