# SPDX-License-Identifier: Apache-2.0
"""A recorded run with its promises: images of it are checked one by one."""

import collections
import dataclasses
import os
import random
import shutil
import subprocess
import tempfile

import checker
import crash_states
import recording

HERE = os.path.dirname(os.path.abspath(__file__))


def scratch():
    """A directory for images: in memory if possible, since its content is temporary."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="tfilefs-crash-", dir=base)


def record(command, directory, log):
    """Runs a program to its end under the recorder. The program may import from tests/."""
    environment = dict(recording.environment(directory, log), PYTHONWARNINGS="ignore", PYTHONPATH=os.path.dirname(HERE))
    result = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=300)
    if result.returncode != 0:
        raise RuntimeError(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")


@dataclasses.dataclass
class Run:
    """`states` is in the order of commits: the log has marks `begin NAME` and `promise NAME` for all but the first.

    Between `promise` of one and `begin` of a later one, the file shows a state from the former to the latter. A mark
    `start` means that earlier operations are not examined."""

    operations: list
    initial: str  # a copy of the directory before the run
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

    def add(self, image, wrong, appended=False):
        self.images += 1
        self.kills += image.how.startswith("killed")
        self.appended += appended
        if wrong:
            self.failures.append((image, wrong))

    def wrong_images(self, reader=None, killed=None):
        return [
            image
            for image, wrong in self.failures
            if (reader is None or any(who == reader or who == "both" for who, _ in wrong))
            and (killed is None or killed == image.how.startswith("killed"))
        ]

    def __str__(self):
        text = f"{self.images} images ({self.kills} of them kills, {self.appended} appended to by ROOT): {len(self.failures)} wrong"
        for image, wrong in self.failures[:5]:
            text += f"\n  after {image.after} operations, {image.how}: " + "; ".join(
                f"{who}: {what}" for who, what in wrong
            )
        kinds = collections.Counter(what[:60] for _, wrong in self.failures for _, what in wrong)
        for what, count in kinds.most_common(5) if len(self.failures) > 5 else ():
            text += f"\n  {count} times: {what}"
        return text


@dataclasses.dataclass
class _Choice:
    """Chooses images: `first` skips the moments before that many operations; of the images for which `only(image)` is
    true, one in `one_in` at random, and at most `limit`."""

    ignored_syncs: tuple = ()
    torn_heads: bool = False
    first: int = 0
    only: object = lambda image: True
    one_in: int = 1
    limit: int = 1 << 30


def _images(run, count, seed, choice):
    """(image, its directory), one after the other."""
    ignored = {id(run.operations[index]) for index in choice.ignored_syncs}
    made = 0
    chance = random.Random(seed)
    torn = run.file if choice.torn_heads else None
    with scratch() as work:
        states = crash_states.CrashStates(run.operations, run.initial, work, lambda operation: id(operation) in ignored)
        for image in states.images(count, seed, torn, max(choice.first, run.first())):
            if not choice.only(image) or chance.randrange(choice.one_in) != 0:
                continue
            directory = os.path.join(work, "image")
            os.mkdir(directory)
            image.write(directory)
            yield image, directory
            shutil.rmtree(directory)
            made += 1
            if made == choice.limit:
                return


def examine(
    run, reader, count, seed, append_every=5, repair=None, legal=None, whole=False, keep=None, stop_at_first=False, **choice
):
    """Checks images, one in `append_every` also after ROOT appended to it. `repair(directory)` is called for each first
    (a mount), and returns what is already wrong. The first wrong images are copied to the directory `keep`.
    `legal(operations before the crash)` replaces the run's own states. For more arguments see _Choice."""
    verdict = Verdict()
    legal = legal or run.legal
    for image, directory in _images(run, count, seed, _Choice(**choice)):
        path = os.path.join(directory, run.file)
        append = append_every > 0 and verdict.images % append_every == 0 and os.path.exists(path)
        wrong = repair(directory) if repair is not None else []
        wrong = wrong or checker.check_file(reader, path, legal(image.after), append, whole)
        verdict.add(image, wrong, append)
        if wrong and keep is not None and len(verdict.failures) <= 10:
            place = os.path.join(keep, f"{len(verdict.failures)}-after-{image.after}")
            os.mkdir(place)
            image.write(place)
        if wrong and stop_at_first:
            break
    return verdict


def examine_directories(run, check, count, seed, stop_at_first=False, **choice):
    """The same with a different check: `check(directory, operations before the crash)` returns what is wrong."""
    verdict = Verdict()
    for image, directory in _images(run, count, seed, _Choice(**choice)):
        wrong = check(directory, image.after)
        verdict.add(image, wrong)
        if wrong and stop_at_first:
            break
    return verdict
