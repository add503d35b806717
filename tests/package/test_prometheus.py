# SPDX-License-Identifier: Apache-2.0
"""Metrics of mounts as Prometheus and node_exporter take them: pages, files of pages, and the examples of docs/service.md."""

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

import jsonschema
import pytest
import yaml

import http_server
import metrics_page
import mounted
from conftest import ROOT

EXAMPLES = os.path.join(ROOT, "docs", "examples", "prometheus")
RULES = os.path.join(EXAMPLES, "tfilefs.rules.yml")
HERE = os.path.dirname(os.path.abspath(__file__))
OF_HISTOGRAM = "_(bucket|sum|count)$"


def dashboard():
    with open(os.path.join(EXAMPLES, "dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


def rules():
    with open(RULES, encoding="utf-8") as file:
        return [rule for group in yaml.safe_load(file)["groups"] for rule in group["rules"]]


def panels():
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions_of_panels():
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def promtool(*arguments, page=None):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed")
    done = subprocess.run(["promtool", *arguments], input=page, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


class NodeExporter:
    """Debian's, with its textfile collector over a directory and nothing else: `with NodeExporter(directory) as exporter`."""

    PROGRAM = "prometheus-node-exporter"

    def __init__(self, directory):
        if not shutil.which(self.PROGRAM):
            pytest.skip(f"{self.PROGRAM} is not installed")
        self._port = http_server.free_port()
        command = [self.PROGRAM, "--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={directory}",
                   f"--web.listen-address=127.0.0.1:{self._port}"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def page(self):
        mounted.wait_until(self._answers)
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def _answers(self):
        assert self._process.poll() is None, self._process.stderr.read()
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self._port}/", timeout=10)
        except OSError:
            return None

    def said(self):
        self._process.terminate()
        return self._process.communicate(timeout=20)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()


def use(path):
    """Something of each kind of metrics that reading has."""
    with open(os.path.join(path, "Events", "energy.f4"), "rb") as file:
        file.read()
    os.listdir(os.path.join(path, "Events"))


@pytest.fixture(scope="module")
def pages(sample, tmp_path_factory):
    """Of a mount of this machine, and of one of a server."""
    served = tmp_path_factory.mktemp("served")
    shutil.copy(sample, served)
    with http_server.Nginx(served) as server, mounted.Mounted(sample) as near, mounted.Mounted(server.url("sample.root")) as remote:
        for m in (near, remote):
            use(m.path)
        yield metrics_page.of_mount(near.path), metrics_page.of_mount(remote.path)


def test_a_page_is_as_prometheus_wants_it(pages):
    for page in pages:
        assert not promtool("check", "metrics", page=page)


def names_in(expression):
    """Of the metrics that it names."""
    return set(re.findall(r"\b(?:tfilefs|process|node)_\w+", expression))


def test_metrics_of_the_examples_are_those_of_mounts(pages):
    there = {name for page in pages for name, *_ in metrics_page.samples(page)} | {"node_textfile_mtime_seconds"}
    used = set().union(*map(names_in, expressions_of_panels()), *(names_in(rule["expr"]) for rule in rules()))
    assert used <= there, used - there
    assert {"tfilefs_read_hits_total", "tfilefs_operation_seconds_bucket", "tfilefs_errors_total", "tfilefs_budget_used_bytes",
            "tfilefs_source_round_trips_total"} <= used


def test_rules_are_valid_and_fire_when_they_should():
    promtool("check", "rules", RULES)
    promtool("test", "rules", os.path.join(HERE, "prometheus_rules_test.yml"))
    with open(os.path.join(HERE, "prometheus_rules_test.yml"), encoding="utf-8") as file:
        tested = {case["alertname"] for test in yaml.safe_load(file)["tests"] for case in test["alert_rule_test"] if "exp_alerts" in case}
    assert tested == {rule["alert"] for rule in rules()}


def test_the_dashboard_is_one_of_grafana():
    with open(os.path.join(HERE, "grafana_dashboard.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(dashboard(), schema, jsonschema.Draft202012Validator)
    everything = dashboard()["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    places = [panel["gridPos"] for panel in everything]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for a, b in itertools.combinations(places, 2):
        apart = any(one[at] + one[size] <= other[at] for at, size in ("xw", "yh") for one, other in ((a, b), (b, a)))
        assert apart, f"panels lie over each other: {a}, {b}"


def test_the_dashboard_is_of_the_mounts_that_are_chosen(tmp_path):
    [mount] = [variable for variable in dashboard()["templating"]["list"] if variable["name"] == "mount"]
    assert mount["query"]["query"] == "label_values(tfilefs_info, mount)" and mount["multi"] and mount["includeAll"]
    expressions = expressions_of_panels()
    assert all(expression.count('{mount=~"$mount"') == len(names_in(expression)) for expression in expressions), expressions
    assert any("histogram_quantile" in expression for expression in expressions)
    replaced = [each.replace("$__rate_interval", "5m").replace("$mount", ".*") for each in expressions]
    group = {"name": "panels", "rules": [{"record": f"a:{i}", "expr": each} for i, each in enumerate(replaced)]}
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [group]}))
    promtool("check", "rules", str(tmp_path / "panels.yml"))


def test_two_mounts_stand_side_by_side_in_node_exporter(sample, tmp_path):
    """Each with all series of its page, and the process of the exporter with its own."""
    pages = tmp_path / "pages"
    pages.mkdir()
    options = lambda name: (f"metrics={pages}/tfilefs-{name}.prom",)
    with (contextlib.closing(mounted.Mounted(sample, options("one"))) as one, mounted.Mounted(sample, options("two")) as two,
          NodeExporter(pages) as exporter):
        mounted.wait_until(lambda: sorted(os.listdir(pages)) == ["tfilefs-one.prom", "tfilefs-two.prom"])
        text = exporter.page()
        promtool("check", "metrics", page="".join(line + "\n" for line in text.splitlines() if "tfilefs_" in line or "process_" in line))
        told = {(name, labels.get("mount")): (labels, value) for name, labels, value in metrics_page.samples(text)}
        for m, name in ((one, "one"), (two, "two")):
            written = {each for each, *_ in metrics_page.samples((pages / f"tfilefs-{name}.prom").read_text())}
            assert {"tfilefs_info", "process_cpu_seconds_total", "process_threads", "tfilefs_read_hits_total"} <= written
            missing = {each for each in written if (each, m.path) not in told}
            assert not missing, text
            assert told["tfilefs_info", m.path][0]["source"] == sample
            assert told["process_threads", m.path][1] > 1
        assert ("process_cpu_seconds_total", None) in told, "the exporter's own"
        assert told["node_textfile_scrape_error", None][1] == 0
        times = {labels["file"]: value for name, labels, value in metrics_page.samples(text) if name == "node_textfile_mtime_seconds"}
        assert {os.path.basename(name) for name in times} == {"tfilefs-one.prom", "tfilefs-two.prom"}
        assert all(abs(value - time.time()) < 60 for value in times.values())
        pattern = re.search(r'file=~"([^"]+)"', next(rule["expr"] for rule in rules() if rule["alert"] == "TfilefsSilent")).group(1)
        assert all(re.fullmatch(pattern, name) for name in times)
        assert one.close() == 0
        assert not any(labels.get("mount") == one.path for _, labels, _ in metrics_page.samples(exporter.page()))
        assert "error" not in exporter.said()
