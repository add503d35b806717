# SPDX-License-Identifier: Apache-2.0
"""The wheel: installed where nothing else of this project is, its values against uproot's, and what a dead process
leaves."""

import glob
import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import awkward
import numpy as np
import pytest
import ROOT as ROOT_library
import uproot

import mounted
from conftest import ROOT, once, only

LINES = os.path.join(ROOT, "packaging", "python", "README.md")


@pytest.fixture(scope="session")
def wheel(request):
    """That of the release; or the one that TFILEFS_WHEEL names, with the portable program."""
    return os.environ.get("TFILEFS_WHEEL") or only(request.getfixturevalue("release"), r".*\.whl")


def make_home(directory, wheel, others):
    """An environment with the wheel, and with what is in the directories `others`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    [site] = glob.glob(f"{directory}/lib/python*/site-packages")
    subprocess.run([sys.executable, "-m", "pip", "--python", f"{directory}/bin/python", "install", "--quiet", "--no-index", "--no-deps",
                    "--disable-pip-version-check", wheel], check=True)
    with open(os.path.join(site, "tests.pth"), "w", encoding="utf-8") as paths:
        paths.write("\n".join(others) + "\n")


@pytest.fixture(scope="session")
def home(wheel, tmp_path_factory):
    """An environment with the wheel; NumPy and what else is only used is that of the tests."""
    others = [path for path in sys.path if path.endswith("site-packages")]
    return str(once(tmp_path_factory, "home", lambda directory: make_home(directory, wheel, others)))


@pytest.fixture
def python(home, sample, tmp_path):
    """python(code, *arguments): a run of it, in a directory with run.root and a TMPDIR of its own."""
    (tmp_path / "tmp").mkdir()
    os.symlink(sample, tmp_path / "run.root")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "tmp"), "PYTHONWARNINGS": "ignore"}

    def run(code, *arguments, start=False):
        command = [f"{home}/bin/python", "-c", code, *arguments]
        if start:
            return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run.temporary = str(tmp_path / "tmp")
    yield run
    assert os.listdir(tmp_path / "tmp") == [], "a mount point is left"


def test_the_wheel_holds_what_it_needs(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert re.search(r"-py3-none-linux_\w+\.whl$", wheel)
    assert any(name.endswith(".data/scripts/tfilefs") for name in names) and any(name.endswith("LICENSE") for name in names)
    assert any(name.endswith("/lib/tfilefs/tfilefs-remote.so") for name in names)
    assert os.path.getsize(wheel) < 6e6
    metadata = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("/METADATA"))).decode()
    needed = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    assert [name for name in needed if ";" not in name] == ["numpy"]
    extras = set(re.findall(r"^Provides-Extra: (.*)$", metadata, re.MULTILINE))
    assert extras == {"all", "arrow", "awkward", "dask", "duckdb", "hist", "pandas", "plot", "polars"}
    assert {re.match(r"[\w-]+", name).group() for name in needed} == {"awkward", "dask-awkward", "duckdb", "hist", "mplhep", "numpy",
                                                                          "pandas", "polars", "pyarrow"}


def test_lines_of_its_page_run(python):
    with open(LINES, encoding="utf-8") as page:
        reading, writing = re.findall(r"^```python\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)
    said = python(reading)
    python(writing)
    assert "['Events', 'calorimeter', 'tracker']" in said and "5000.0" in said


def test_the_first_lines_need_numpy_alone(wheel, sample, tmp_path):
    """Those of README.md, in an environment that has what pip installs with the wheel."""
    above = os.path.dirname(os.path.dirname(np.__file__))
    for name in ("numpy", "numpy.libs"):
        if os.path.isdir(os.path.join(above, name)):
            (tmp_path / "needed").mkdir(exist_ok=True)
            os.symlink(os.path.join(above, name), tmp_path / "needed" / name)
    make_home(tmp_path / "home", wheel, [str(tmp_path / "needed")])
    os.symlink(sample, tmp_path / "run.root")
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as page:
        [code] = re.findall(r"^```python\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)
    done = subprocess.run([tmp_path / "home" / "bin" / "python", "-c", code + "print(energy.mean(dtype='f8'))"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    with uproot.open(sample) as file:
        assert float(done.stdout) == file["Events"]["energy"].array(library="np").mean(dtype="f8")


def test_values_are_those_of_uproot(python, sample, tmp_path):
    python("import sys, numpy, tfilefs, awkward\n"
           "with tfilefs.mount('run.root') as f:\n"
           "    events = f['Events']\n"
           "    numpy.savez('flat.npz', entries=len(events), **events.numpy('energy', 'position', 'run'))\n"
           "    muons = events.awkward('energy', 'Muon_*')\n"
           "    assert muons.fields == ['energy', 'Muon_pt'], muons.fields\n"
           "    everything = events.awkward()\n"
           "    table = events.arrow('energy', 'Muon_pt')\n"
           "    assert events.columns == ['run', 'energy', 'position', 'nMuon_pt', 'Muon_pt', 'trigger'], events.columns\n"
           "# After the mount.\n"
           "awkward.to_parquet(muons, 'muons.parquet')\n"
           "awkward.to_parquet(everything, 'everything.parquet')\n"
           "assert table.column_names == ['energy', 'Muon_pt'] and table.num_rows == 100000\n"
           "awkward.to_parquet(awkward.from_arrow(table), 'arrow.parquet')\n")
    with uproot.open(sample) as file:
        expected = file["Events"].arrays()
    flat = np.load(tmp_path / "flat.npz")
    assert flat["entries"] == len(expected)
    for name in ("energy", "position", "run"):
        np.testing.assert_array_equal(flat[name], expected[name].to_numpy(), strict=True)
    for name in ("muons", "arrow"):
        found = awkward.from_parquet(tmp_path / f"{name}.parquet")
        assert awkward.array_equal(found.energy, expected.energy, check_parameters=False)
        assert awkward.all(found.Muon_pt == expected.Muon_pt) and awkward.all(awkward.num(found.Muon_pt) == awkward.num(expected.Muon_pt))
    everything = awkward.from_parquet(tmp_path / "everything.parquet")
    assert set(everything.fields) == set(expected.fields)
    assert everything.trigger.to_list() == expected.trigger.to_list()


def test_histograms_are_taken_by_those_who_draw(python, sample):
    with uproot.open(sample) as file:
        hits, occupancy = file["tracker/layer1/hits"], file["tracker/occupancy"]
        sums = hits.values().sum(), float((hits.values() * hits.axis().centers()).sum()), occupancy.values()[3].sum()
    said = python(
        "import tfilefs, hist, numpy, mplhep, matplotlib\n"
        "from uhi.typing.plottable import PlottableHistogram\n"
        "matplotlib.use('svg')\n"
        "with tfilefs.mount('run.root') as f:\n"
        "    h, g = f['tracker/layer1/hits'], f['tracker/occupancy']\n"
        "    assert isinstance(h, PlottableHistogram) and isinstance(g, PlottableHistogram)\n"
        "    assert h.kind == 'COUNT' and len(h.axes) == 1 and len(g.axes) == 2 and h.axes[0][0] == (-10.0, -9.5)\n"
        "    assert h.values(flow=True).shape == (42,) and (h.values(flow=True)[1:-1] == h.values()).all()\n"
        "    assert h.axes[0] == h.axes[0] and h.axes[0] != g.axes[0] and len(list(h.axes[0])) == 40\n"
        "    assert h._repr_svg_().startswith('<svg') or '<svg' in h._repr_svg_()\n"
        "    assert '<table>' in f['Events']._repr_html_()\n"
        "    taken = hist.Hist(h)\n"
        "    assert (taken.values() == h.values()).all() and (hist.Hist(g).values() == g.values()).all()\n"
        "    assert numpy.allclose(taken.variances(), h.variances())\n"
        "    mplhep.histplot(h)\n"
        "    mplhep.hist2dplot(g)\n"
        "    print(h.values().sum(), float((h.values() * h.axes[0].centers).sum()), g.values()[3].sum())\n")
    assert [float(word) for word in said.split()] == pytest.approx(sums)


def test_mistakes_are_told(python):
    python("import tfilefs\n"
           "def told(what, error, word):\n"
           "    try: what()\n"
           "    except error as e: assert word in str(e), e\n"
           "    else: raise AssertionError(word)\n"
           "with tfilefs.mount('run.root') as f:\n"
           "    told(lambda: f['nothing'], KeyError, 'nothing')\n"
           "    told(lambda: f['Events'].numpy('Muon_pt'), TypeError, \"awkward('Muon_pt')\")\n"
           "    told(lambda: f['Events'].numpy('none'), KeyError, 'energy')\n"
           "    told(lambda: f['Events'].awkward('none*'), KeyError, 'energy')\n"
           "told(lambda: tfilefs.mount('none.root'), tfilefs.MountError, 'none.root')\n"
           "told(lambda: tfilefs.mount('run.root', memory='lots'), tfilefs.MountError, 'memory')\n")


def test_a_mount_that_has_gone_is_told(python):
    python("import tfilefs\n"
           "with tfilefs.mount('run.root') as f:\n"
           "    tracker, events, read, h = f['tracker'], f['Events'], f['Events'], f['tracker/layer0/hits']\n"
           "    read.columns, read.awkward('run')\n"
           "for what in (lambda: list(f), lambda: len(tracker), lambda: f['x'], lambda: events.columns, lambda: read.numpy('run'),\n"
           "             lambda: read.awkward(), lambda: read.arrow(), lambda: h.values(), lambda: h.json(), lambda: h.svg()):\n"
           "    try: what()\n"
           "    except tfilefs.MountError as e: assert 'is not mounted any more' in str(e), e\n"
           "    else: raise AssertionError\n"
           "assert all('not mounted any more' in repr(each) for each in (events, tracker, read))\n"
           "assert h._repr_svg_() is None\n")


def test_labels_of_bins_are_those_of_uproot(python, tmp_path):
    labels = ["ee", "#mu#mu", "<&>"]
    file = ROOT_library.TFile(str(tmp_path / "labels.root"), "RECREATE")
    named, some = ROOT_library.TH2D("named", "", 2, 0, 2, 3, 0, 3), ROOT_library.TH1D("some", "", 2, 0, 2)
    for i, label in enumerate(labels):
        named.GetYaxis().SetBinLabel(i + 1, label)
        named.Fill(0.5, i + 0.5, i + 1)
    some.GetXaxis().SetBinLabel(2, "alone")
    for each in (named, some):
        each.Write()
    file.Close()
    with uproot.open(tmp_path / "labels.root") as file:
        assert list(file["named"].axis("y")) == labels
    python("import hist, tfilefs\n"
           "with tfilefs.mount('labels.root') as f:\n"
           "    x, y = f['named'].axes\n"
           f"assert list(y) == {labels!r} and y.traits.discrete and y[-1] == '<&>' and len(y) == 3 and y.edges[3] == 3\n"
           "assert x[1] == (1.0, 2.0) and not x.traits.discrete\n"
           "with tfilefs.mount('labels.root') as f:\n"
           "    assert not f['some'].axes[0].traits.discrete\n"
           "    taken = hist.Hist(f['named'])\n"
           f"    assert list(taken.axes[1]) == {labels!r} and (taken.values() == f['named'].values()).all()\n")


def test_a_wheel_in_any_directory_brings_its_program(wheel, sample, tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "--target",
                    tmp_path / "any", wheel], check=True)
    code = "import sys, tfilefs\nwith tfilefs.mount(sys.argv[1]) as f: print(list(f))"
    done = subprocess.run([sys.executable, "-c", code, sample], capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "any")})
    assert done.returncode == 0 and "Events" in done.stdout, done.stderr


def test_names_stay_in_the_mount(python):
    """As uproot takes them: a slash in front is none. What lies outside is not there."""
    python("import tfilefs\n"
           "with tfilefs.mount('run.root') as f:\n"
           "    assert f['/tracker/layer1//hits'].values().sum() == f['tracker/layer1/hits'].values().sum()\n"
           "    assert '/tracker' in f and '/etc' not in f and '..' not in f and 3 not in f\n"
           "    for name in ('/etc', '..', 'tracker/../../etc', 'a\\0b', 3):\n"
           "        try: f[name]\n"
           "        except KeyError: pass\n"
           "        else: raise AssertionError(name)\n"
           "for what in (lambda: f['Events'], lambda: f['tracker']):\n"
           "    try: what()\n"
           "    except tfilefs.MountError as e: assert 'not mounted any more' in str(e)\n"
           "    else: raise AssertionError\n")


def test_arguments_are_taken_as_they_are(python, tmp_path):
    os.link(os.path.realpath(tmp_path / "run.root"), tmp_path / "-f")
    python("import os, tfilefs\n"
           "with tfilefs.mount('-f', logfile='a,b.log', allow_other=False) as f:\n"
           "    everything = f['Events'].numpy()\n"
           "    assert list(everything) == ['run', 'energy', 'position', 'nMuon_pt'], list(everything)\n"
           "    try: f['Events'].arrow('energy', 'none')\n"
           "    except KeyError as e: assert 'none; there are run, energy' in str(e)\n"
           "    else: raise AssertionError\n"
           "assert os.path.exists('a,b.log')\n")


def test_a_mount_to_be_written_is_not_left_to_itself(python):
    """Its block ends with an error if somebody has it open still; also where rw is one of several options in a word."""
    python("import os, time, tfilefs\n"
           "f = tfilefs.mount('new.root', 'rw,memory=64M')\n"
           "held = os.open(f.path, os.O_RDONLY)\n"
           "try: f.close()\n"
           "except tfilefs.MountError as e: assert f'has {f.path}' in str(e), e\n"
           "else: raise AssertionError('closed')\n"
           "os.close(held)\n"
           "while os.path.exists(f.path): time.sleep(0.05)\n")


def test_a_mount_stays_as_long_as_something_of_it_is_used(python):
    python("import gc, os, tfilefs\n"
           "events = tfilefs.mount('run.root')['Events']\n"
           "gc.collect()\n"
           "assert events.numpy('run')[0] == 2024\n"
           "path = events._owner.path\n"
           "del events\n"
           "gc.collect()\n"
           "assert not os.path.exists(path)\n")


def test_what_is_written_is_there_when_the_block_ends(python, tmp_path):
    python("import numpy, os, tfilefs\n"
           "with tfilefs.mount('new.root', 'rw') as f:\n"
           "    os.mkdir(f.path + '/t')\n"
           "    numpy.arange(1000, dtype='i4').tofile(f.path + '/t/x.i4')\n")
    with uproot.open(tmp_path / "new.root") as file:
        assert file["t"]["x"].array().to_list() == list(range(1000))


def wait_until(true, what):
    mounted.wait_until(true, 20, lambda: what)


@pytest.mark.parametrize("how", ("kill", "exit", "abort"))
def test_a_process_that_dies_leaves_nothing(python, how):
    process = python("import os, sys, tfilefs\n"
                     "f = tfilefs.mount('run.root')\n"
                     "held = open(f.path + '/Events/run.i4', 'rb')\n"
                     "print(f.path, flush=True)\n"
                     "__import__('time').sleep(600) if sys.argv[1] == 'kill' else os.abort() if sys.argv[1] == 'abort' else sys.exit()\n",
                     how, start=True)
    path = process.stdout.readline().strip()
    if how == "kill":
        assert mounted.is_mount_point(path)
        process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not os.path.exists(path), f"{path} is left")
    assert not mounted.is_mount_point(path)


def test_processes_that_were_forked_share_the_mount(python):
    said = python("import multiprocessing, os, tfilefs\n"
                  "def total(i):\n"
                  "    return float(f['Events'].numpy('energy')[i::4].sum())\n"
                  "if __name__ == '__main__':\n"
                  "    with tfilefs.mount('run.root') as f:\n"
                  "        with multiprocessing.get_context('fork').Pool(4) as pool:\n"
                  "            parts = pool.map(total, range(4))\n"
                  "        if os.fork() == 0: raise SystemExit\n"
                  "        os.wait()\n"
                  "        print(abs(sum(parts) / f['Events'].numpy('energy').sum(dtype='f8') - 1) < 1e-5)\n")
    assert said == "True\n"
