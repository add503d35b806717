# SPDX-License-Identifier: Apache-2.0
"""peers.py [--images N] [--seed N]: how crashes affect files of other writers, as in the table of docs/reliability.md.

"Wrong" is an image in which the reader fails, recovers the file, prints a message, or finds a state that was never
saved; after a kill, also one older than a save that had returned. After a stop of the machine, no writer here promises
its last save: such images are "older"."""

import argparse
import dataclasses
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import checker
import crash_run
import peer
import recording

WRITERS = {"autosave": "ROOT, `TTree::AutoSave()`", "saveself": '`AutoSave("SaveSelf")`', "extend": "uproot, `extend`"}


def saved(entries):
    columns = {"px": lambda count: peer.px(0, count), "n": lambda count: peer.n(0, count)}
    return checker.State({"Events": checker.Table(columns, [entries])})


STATES = {"none": checker.State(None)} | {str(save): saved(save * peer.ENTRIES) for save in range(1, peer.SAVES + 1)}


def record(writer, directory):
    """Runs the writer in a new directory below `directory`."""
    base = os.path.join(directory, writer)
    for name in "files", "initial":
        os.makedirs(os.path.join(base, name))
    files, log = os.path.join(base, "files"), os.path.join(base, "log")
    crash_run.record(
        [sys.executable, os.path.join(HERE, "peer.py"), writer, os.path.join(files, "out.root")], files, log
    )
    return crash_run.Run(recording.read_log(log), os.path.join(base, "initial"), "out.root", STATES)


def without_promises(run):
    kept = [
        dataclasses.replace(operation, path="returned") if operation.path.startswith("promise ") else operation
        for operation in run.operations
    ]
    return dataclasses.replace(run, operations=kept)


def measure(run, reader, images, seed):
    """(verdict on the content, verdict on the promises), for the same images."""
    return (
        crash_run.examine(without_promises(run), reader, images, seed, append_every=0),
        crash_run.examine(run, reader, images, seed, append_every=0),
    )


def row(writer, there, promised):
    def wrong(verdict, killed):
        return [len(verdict.wrong_images(who, killed)) for who in ("root", "uproot")]

    stopped = wrong(there, False)
    older = max(late - now for late, now in zip(wrong(promised, False), stopped))
    killed = wrong(promised, True)
    return (
        f"| {WRITERS[writer]} | {there.kills} | {killed[0]} | {killed[1]} "
        f"| {there.images - there.kills} | {stopped[0]} | {stopped[1]} | {older} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("writers", nargs="*", metavar="WRITER", help=f"of {', '.join(WRITERS)}; all of them")
    wanted = parser.parse_args()
    print(f"seed {wanted.seed}")
    print(
        "| writer | killed: images | wrong in ROOT | wrong in uproot | stopped: images | wrong in ROOT | wrong in uproot | older |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tfilefs-peers-") as directory, checker.Reader(timeout=10) as reader:
        for writer in wanted.writers or WRITERS:
            run = record(writer, directory)
            print(row(writer, *measure(run, reader, wanted.images, wanted.seed)), flush=True)


if __name__ == "__main__":
    main()
