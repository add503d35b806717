# SPDX-License-Identifier: Apache-2.0
"""A recorded run with what it promised: images of it, checked one by one."""

import collections
import dataclasses
import os
import shutil
import subprocess
import tempfile

import checker
import crash_states
import recording

HERE = os.path.dirname(os.path.abspath(__file__))


def scratch():
    """A directory for images: memory where there is some, since nothing in it has to outlive anything."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="tfilefs-crash-", dir=base)


def record(command, directory, log):
    """Runs a program, which may import from tests/, under the recorder to its end."""
    environment = dict(recording.environment(directory, log), PYTHONWARNINGS="ignore", PYTHONPATH=os.path.dirname(HERE))
    result = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=300)
    if result.returncode != 0:
        raise RuntimeError(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")


@dataclasses.dataclass
class Run:
    """`states` in the order of commits: the log has marks `begin NAME` and `promise NAME` for all but the first.

    Between `promise` of one and `begin` of a later one, the file shows one of those from the one to the other. A mark
    `start` says that what comes before is not to be looked at."""

    operations: list
    initial: str  # a copy of the directory before
    file: str  # the ROOT file, below the directory
    states: dict  # name -> checker.State

    def legal(self, after):
        names = list(self.states)
        promised = begun = 0
        for operation in self.operations[:after]:
            if operation.kind == recording.MARK:
                what, _, name = operation.path.partition(" ")
                if what == "begin":
                    begun = max(begun, names.index(name))
                elif what == "promise":
                    promised = max(promised, names.index(name))
        return [self.states[name] for name in names[promised : max(begun, promised) + 1]]

    def first(self):
        return next((i for i, o in enumerate(self.operations) if o.kind == recording.MARK and o.path == "start"), 0)

    def syncs(self):
        """All barriers, as indices of operations."""
        return [i for i, operation in enumerate(self.operations) if operation.kind == recording.SYNC]


@dataclasses.dataclass
class Verdict:
    images: int = 0
    kills: int = 0
    appended: int = 0
    failures: list = dataclasses.field(default_factory=list)  # [(image, [(reader, what is wrong)])]

    def wrong_images(self, reader=None, killed=None):
        return [
            image for image, wrong in self.failures
            if (reader is None or any(who == reader or who == "both" for who, _ in wrong))
            and (killed is None or killed == image.how.startswith("killed"))
        ]

    def __str__(self):
        text = f"{self.images} images ({self.kills} of them kills, {self.appended} appended to by ROOT): {len(self.failures)} wrong"
        for image, wrong in self.failures[:5]:
            text += f"\n  after {image.after} operations, {image.how}: " + "; ".join(f"{who}: {what}" for who, what in wrong)
        kinds = collections.Counter(what[:60] for _, wrong in self.failures for _, what in wrong)
        for what, count in kinds.most_common(5) if len(self.failures) > 5 else ():
            text += f"\n  {count} times: {what}"
        return text


def examine(run, reader, count, seed, append_every=5, ignored_syncs=(), torn_heads=False, repair=None, whole=False, keep=None,
            stop_at_first=False):
    """Checks up to `count` images, one in `append_every` also after ROOT appended. `repair(directory)` is done to each
    first (a mount), and gives what is wrong already; the first wrong images are copied to the directory `keep`."""
    ignored = {id(run.operations[index]) for index in ignored_syncs}
    verdict = Verdict()
    with scratch() as work:
        states = crash_states.CrashStates(run.operations, run.initial, work, lambda operation: id(operation) in ignored)
        for image in states.images(count, seed, torn_heads, run.first()):
            directory = os.path.join(work, "image")
            os.mkdir(directory)
            image.write(directory)
            path = os.path.join(directory, run.file)
            append = append_every > 0 and verdict.images % append_every == 0 and os.path.exists(path)
            wrong = []
            if repair is not None:
                wrong = repair(directory)
            wrong = wrong or checker.check_file(reader, path, run.legal(image.after), append, whole)
            verdict.images += 1
            verdict.kills += image.how.startswith("killed")
            verdict.appended += append
            if wrong:
                verdict.failures.append((image, wrong))
                if keep is not None and len(verdict.failures) <= 10:
                    shutil.rmtree(directory)
                    os.mkdir(directory)
                    image.write(directory)
                    shutil.copytree(directory, os.path.join(keep, f"{image.after}-{len(verdict.failures)}"))
            shutil.rmtree(directory)
            if wrong and stop_at_first:
                break
    return verdict
