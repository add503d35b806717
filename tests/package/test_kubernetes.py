# SPDX-License-Identifier: Apache-2.0
"""The pod of docs/service.md: its YAML, and what its probes and its arguments do on a mount of this machine."""

import os
import re
import shutil
import subprocess
import time

import yaml

import metrics_page
import mounted
from conftest import ROOT


def text_of(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


POD = text_of("docs", "examples", "kubernetes", "pod.yaml")


def sidecar():
    [container] = yaml.safe_load(POD)["spec"]["initContainers"]
    return container


def test_the_page_shows_the_file():
    shown = re.findall(r"^```yaml\n(.*?)^```", text_of("docs", "service.md"), re.MULTILINE | re.DOTALL)
    assert POD.split("\n", 1)[1] in shown


def test_the_pod_is_one_that_kubernetes_takes():
    pod = yaml.safe_load(POD)
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod") and pod["metadata"]["name"]
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    for container in (*pod["spec"]["initContainers"], *pod["spec"]["containers"]):
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert all(mount["mountPath"].startswith("/") for mount in container["volumeMounts"])
    of = sidecar()
    assert of["restartPolicy"] == "Always", "a sidecar"
    propagation = {mount["name"]: mount.get("mountPropagation") for mount in of["volumeMounts"]}
    assert propagation["mounts"] == "Bidirectional" and of["securityContext"]["privileged"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(of)


def bytes_of(quantity):
    number, unit = re.fullmatch(r"(\d+)([KMG])i?", quantity).groups()
    return int(number) << {"K": 10, "M": 20, "G": 30}[unit]


def test_the_memory_of_the_pod_is_more_than_that_of_the_cache():
    [options] = [each for each in sidecar()["args"] if "memory=" in each]
    cache = bytes_of(re.search(r"memory=(\w+)", options).group(1))
    resources = sidecar()["resources"]
    assert cache + (200 << 20) <= bytes_of(resources["requests"]["memory"]) <= bytes_of(resources["limits"]["memory"])


def test_arguments_and_probes_do_what_they_should(program, sample, tmp_path):
    mnt, metrics = tmp_path / "mnt", tmp_path / "metrics"
    metrics.mkdir()
    (tmp_path / "data").mkdir()
    shutil.copy(sample, tmp_path / "data" / "run1.root")
    places = {"/metrics/": f"{metrics}/", "$(POD)": "pod-1", "/mnt/runs": str(mnt), "/data": str(tmp_path / "data")}

    def here(words):
        for name, place in places.items():
            words = [word.replace(name, place) for word in words]
        return words

    probes = [here(sidecar()[name]["exec"]["command"]) for name in ("startupProbe", "readinessProbe", "livenessProbe")]
    succeeds = lambda command: subprocess.run(command, timeout=20).returncode == 0
    assert not any(map(succeeds, probes))
    daemon = subprocess.Popen([program, *here(sidecar()["args"])], stderr=subprocess.PIPE, text=True)
    mounted.wait_until(lambda: succeeds(probes[0]))
    assert all(map(succeeds, probes)) and os.listdir(mnt / "run1.root")
    page = metrics / "tfilefs-pod-1.prom"
    mounted.wait_until(page.exists)
    assert {(labels["mount"], labels["source"]) for _, labels, _ in metrics_page.samples(page.read_text())} == {(str(mnt), "pod-1")}
    mounted.stop_threads(daemon.pid)
    try:
        time.sleep(1)  # the kernel remembers for half a second
        hangs = subprocess.Popen(probes[2])
        time.sleep(1)
        assert hangs.poll() is None, "the probe answers for a program that does not"
    finally:
        daemon.send_signal(18)  # SIGCONT
    assert hangs.wait(20) == 0
    end = here(sidecar()["lifecycle"]["preStop"]["exec"]["command"])
    assert succeeds([program, *end[1:]]) and end[0] == "tfilefs"
    assert daemon.wait(20) == 0 and not any(map(succeeds, probes))
    assert all(line.startswith("{") for line in daemon.stderr.read().splitlines()) and not page.exists()
