# SPDX-License-Identifier: Apache-2.0
"""docs/development/building.md, the presets, and the workflows of CI: what they name is there."""

import json
import os
import re
import subprocess
import sys

import yaml

from pages import ROOT, read

PAGE = "docs/development/building.md"


def presets(kind="configurePresets"):
    return [each["name"] for each in json.loads(read("CMakePresets.json"))[kind] if not each.get("hidden")]


def commands():
    """Of the first table, by what they are for."""
    return dict(re.findall(r"^\| (.*?) \| (?:add )?`(.*?)` \|$", read(PAGE), re.MULTILINE))


def workflow(name):
    return yaml.safe_load(read(f".github/workflows/{name}.yml"))


def parts_of_tests(variable):
    return re.search(rf"^{variable}=\((.*)\)$", read("packaging/test"), re.MULTILINE).group(1).split()


def test_presets_are_those_of_the_page():
    told = [name for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `build", read(PAGE), re.MULTILINE) for name in re.findall(r"\w+", row)]
    assert sorted(told) == sorted(presets())
    assert sorted(presets("buildPresets")) == sorted(presets())


def workflow_steps():
    """(name of the workflow, job, what a step runs)"""
    for name in sorted(os.listdir(os.path.join(ROOT, ".github", "workflows"))):
        for job, content in workflow(name.removesuffix(".yml"))["jobs"].items():
            yield from ((name, job, step["run"]) for step in content["steps"] if "run" in step)


def test_presets_that_are_used_are_there():
    """Each of the kind that its command takes."""
    kinds = {"cmake": "configurePresets", "cmake --build": "buildPresets", "cmake --workflow": "workflowPresets", "ctest": "testPresets"}
    for text in (read(PAGE), read("CONTRIBUTING.md"), read("packaging/test"), "\n".join(run for *_, run in workflow_steps())):
        used = re.findall(r"(cmake(?: --build| --workflow)?|ctest) --preset (\w+)", text)
        used += [("cmake", name) for name in re.findall(r"\bbuild (ci|fuzz|tsan) ", text)]
        assert used
        for command, name in used:
            assert name in presets(kinds[command]), f"{command} --preset {name}"


def test_programs_that_workflows_run_are_there():
    """With parts and levels that they take."""
    levels = re.findall(r"^  (\w+)\)$", read("packaging/install-deps"), re.MULTILINE)
    for *place, run in workflow_steps():
        for program, argument in re.findall(r"(?:^|&& )((?:packaging|\.ci)/[\w-]+)(?: (\w+))?", run):
            assert os.access(os.path.join(ROOT, program), os.X_OK), (*place, run)
            assert program != "packaging/install-deps" or argument in levels, (*place, run)


def test_commands_of_the_page_run(program):
    """Those that take seconds; of the others what they name is there."""
    of = commands()
    build = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(program))), "tests", "fs_tests")
    unit = of["run one unit test"].replace("build/tests/fs_tests", build)
    if os.path.exists(build):
        done = subprocess.run(unit, shell=True, capture_output=True, text=True, cwd=ROOT, timeout=300)
        assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout + done.stderr
    one = of["run one file of tests of mounts"].replace("~/.cache/tfilefs-venv/bin/python", sys.executable).replace(
        "../build/fs/tfilefs", os.path.realpath(program))
    done = subprocess.run(one + " -q -p no:cacheprovider --collect-only", shell=True, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in re.findall(r"bench/\w+|mount/\w+\.py|packaging/\w+", " ".join(of.values())):
        assert any(os.path.exists(os.path.join(ROOT, place, name)) for place in ("", "bench", "tests")), name
    fuzzed = re.search(r"(\w+)_fuzz\b", of["fuzz one decoder for a minute"]).group(1)
    assert fuzzed in parts_of_tests("fuzz_targets")


def test_a_benchmark_that_does_not_compile_says_why(tmp_path):
    for name, lines in (("cmake", "true"), ("ninja", "echo 'x.cpp:1: error: no'; exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TFILEFS_BENCH_BUILD": str(tmp_path)}
    done = subprocess.run([os.path.join(ROOT, "bench", "run"), "--only", "listing"], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode != 0 and "x.cpp:1: error: no" in done.stderr and "Traceback" not in done.stderr


def test_workflows_run_what_ci_runs():
    """.ci/run runs packaging/test without an argument, which means all its parts."""
    jobs = workflow("tests")["jobs"]
    assert jobs["parts"]["strategy"]["matrix"]["part"] == parts_of_tests("all_parts")
    assert jobs["parts"]["steps"][-1]["run"] == ".ci/run ${{ matrix.part }}"
    assert read(".ci/run").splitlines()[-1] == 'exec "$root/packaging/test" "$@"'
    nightly = workflow("nightly")["jobs"]["nightly"]["strategy"]["matrix"]["include"]
    assert workflow("nightly")["jobs"]["nightly"]["steps"][-1]["run"] == ".ci/run ${{ matrix.parts }}"
    assert {each["parts"] for each in nightly} <= set(parts_of_tests("all_parts") + parts_of_tests("other_parts"))
    assert any(each["parts"] == "nightly" for each in nightly)
    assert "packaging/release" in workflow("packages")["jobs"]["release"]["steps"][-2]["run"]


def test_files_for_tools_are_sound():
    for name in (".clang-tidy", ".pre-commit-config.yaml"):
        assert yaml.safe_load(read(name))
    for line in read(".git-blame-ignore-revs").splitlines():
        assert re.fullmatch(r"#.*|[0-9a-f]{40}", line), line
