# SPDX-License-Identifier: Apache-2.0
"""Every image that a crash may leave of the daemon's files is right for ROOT and uproot: runs the stories of
stories.py."""

import os

import pytest

import campaign
import checker
import crash_run
import mounted
import recording
import stories
import writing

# The fraction of the images that the short campaign checks; other stories get 0.3.
SHORT = {"three_commits": 1.0, "subdirectory": 1.0, "journal_that_stays": 1.0, "lists_of_records": 0.7,
         "variants": 1.0, "projections": 1.0, "repeated_pages": 1.0}
NTUPLES = ["ntuple", "variants", "projections", "repeated_pages"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """recorded(story) runs the story once."""
    known = {}

    def get(name):
        if name not in known:
            known[name] = stories.record(name, str(tmp_path_factory.mktemp("story")))
        return known[name]

    return get


def images_of(name):
    if campaign.NAME == "short":
        return int(campaign.LENGTH["images"] * SHORT.get(name, 0.3))
    return campaign.LENGTH["images"]


@pytest.mark.parametrize("name", stories.STORIES)
def test_every_image_is_right(recorded, reader, name, tmp_path):
    verdict = crash_run.examine(
        recorded(name),
        reader,
        images_of(name),
        campaign.SEED,
        append_every=10,
        keep=tmp_path,
        whole=name == "rename_and_remove",
    )
    campaign.report(f"{name}: {verdict}")
    assert verdict.failures == [], f"seed {campaign.SEED}, images in {tmp_path}: {verdict}"


def files_below(table):
    """{path: bytes}; without views and the control files, whose names begin with a dot."""
    found = {}
    for above, directories, files in os.walk(table):
        directories[:] = [name for name in directories if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                with open(os.path.join(above, name), "rb") as file:
                    found[os.path.relpath(os.path.join(above, name), table)] = file.read()
    return found


def shown_difference(path, states):
    """None if a mount shows the table `Events` of one of the states at `path`; else the difference."""
    if not os.path.exists(path):
        return None if any(state.keys is None for state in states) else "the file is not there"
    found = files_below(os.path.join(path, "Events"))
    wanted = []
    for table in (state.keys["Events"] for state in states if state.keys):
        wanted += [
            {name: data for column in table.columns for name, data in writing.files_of(column, 0, entries).items()}
            for entries in table.entries
        ]
    if found in wanted:
        return None
    return "; or ".join(str(sorted(n for n in found.keys() | one.keys() if found.get(n) != one.get(n))) for one in wanted)


@pytest.mark.parametrize("name", NTUPLES)
def test_a_mount_shows_the_committed_state_of_every_image(recorded, name):
    """Also where a journal is left: a mount without `rw` leaves it alone."""
    run = recorded(name)

    def check(directory, after):
        with mounted.Mounted(directory) as m:
            wrong = shown_difference(os.path.join(m.path, stories.FILE), run.legal(after))
        return [("mount", wrong)] if wrong else []

    verdict = crash_run.examine_directories(run, check, images_of(name), campaign.SEED)
    campaign.report(f"{name}, as mounts show it: {verdict}")
    assert verdict.images > 0 and verdict.failures == [], f"seed {campaign.SEED}: {verdict}"


def barriers(run):
    """Barriers of the file and its name. Those of the journal and its name concern only staged data."""
    is_journals = lambda index: run.operations[index].path.endswith("-journal")
    return [index for index in run.syncs() if not is_journals(index) and not is_journals(index - 1)]


@pytest.mark.parametrize("name", ["three_commits", "subdirectory"])
def test_each_barrier_of_the_last_commit_is_needed(recorded, reader, name):
    run = recorded(name)
    begun = max(i for i, o in enumerate(run.operations) if o.kind == recording.MARK and o.path == "begin three")
    ended = max(i for i, o in enumerate(run.operations) if o.kind == recording.MARK and o.path == "promise three")
    chosen = [index for index in barriers(run) if begun < index < ended]
    assert len(chosen) >= (2 if name == "three_commits" else 3)
    needless = []
    for index in chosen:
        verdict = crash_run.examine(
            run,
            reader,
            campaign.LENGTH["images"] * 3,
            campaign.SEED,
            append_every=3,
            ignored_syncs=[index],
            stop_at_first=True,
            first=begun,
        )
        if not verdict.failures:
            needless.append(str(run.operations[index]))
    assert needless == [], f"seed {campaign.SEED}: the tests see no harm without {needless}"


def remount(directory):
    """A mount repairs the result of a crash and ends; [(reader, what is wrong)]."""
    try:
        with writing.Daemon(directory) as daemon, writing.deadline():
            status = daemon.unmount()
    except Exception as error:
        return [("mount", f"{type(error).__name__}: {error}")]
    told = status == 1 and "kept in the journal" in daemon.said  # staged data may be incomplete
    return [] if status == 0 or told else [("mount", f"umount ended with {status}: {daemon.said}{daemon.messages()}")]


def test_a_torn_head_is_mended_by_the_next_mount(recorded, reader, tmp_path):
    run = recorded("three_commits")
    torn = lambda image: image.how.startswith("head torn")
    how = dict(append_every=0, torn_heads=True, only=torn, limit=campaign.LENGTH["mounted_images"])
    bare = crash_run.examine(run, reader, 200, campaign.SEED, **how)
    mended = crash_run.examine(run, reader, 200, campaign.SEED, repair=remount, keep=tmp_path, **how)
    campaign.report(f"torn heads: {len(bare.failures)} of {bare.images} wrong before a mount; after it {mended}")
    assert bare.failures != [], "no torn head did any harm: nothing was tested"
    assert mended.images > 0 and mended.failures == [], f"seed {campaign.SEED}, images in {tmp_path}: {mended}"


@pytest.mark.parametrize("name", ["three_commits", *NTUPLES[1:]])
def test_a_mount_after_a_crash_ends_right(recorded, reader, name, tmp_path):
    """The journal is replayed. Whatever was staged without a promise, the file has the promised entries, and of the
    others those that had reached the journal. (Before the first promise, any part of the columns may be there.)"""
    run = recorded(name)
    promised = 1 + next(i for i, o in enumerate(run.operations) if o.kind == recording.MARK and o.path.startswith("promise"))

    def legal(after):
        states = run.legal(after)
        before, then = (states[i].keys["Events"] for i in (0, -1))
        between = range(before.entries[-1], then.entries[-1] + 1)
        return [*states, checker.State({"Events": checker.Table(before.columns, between)})]

    verdict = crash_run.examine(
        run,
        reader,
        campaign.LENGTH["images"],
        campaign.SEED,
        append_every=0,
        first=promised,
        one_in=campaign.LENGTH["images"] // campaign.LENGTH["mounted_images"],
        repair=remount,
        legal=legal,
        keep=tmp_path,
    )
    campaign.report(f"{name}, mounted after the crash: {verdict}")
    assert verdict.images > 0 and verdict.failures == [], f"seed {campaign.SEED}, images in {tmp_path}: {verdict}"


def test_the_journal_that_stays_is_written_anew(recorded):
    """It is smaller than twice the staged data, and not empty."""
    renamed = [o for o in recorded("journal_that_stays").operations if o.kind == recording.RENAME and o.other.endswith("-journal")]
    assert len(renamed) >= 2


@pytest.mark.parametrize("folder", ["", "deep"])
def test_what_was_synced_survives_its_commit(tmp_path, folder):
    """At any moment, a mount has every synced byte: in the file, or staged again."""
    files, initial, log = tmp_path / "files", tmp_path / "initial", tmp_path / "log"
    files.mkdir(), initial.mkdir()
    place = os.path.join(stories.FILE, folder, "Events")
    columns = ("px", "hits")
    with writing.Daemon(files, log) as daemon, writing.deadline():
        table = os.path.join(daemon.path, place)
        os.makedirs(table)
        writing.write_table(table, 0, 300, columns)
        assert daemon.command("commit") == 0
        writing.write_table(table, 300, 500, columns, fsync=True)
        recording.mark("start", log)
        assert daemon.command("commit") == 0
        daemon.process.kill()

    def holds_all(directory, _):
        wrong = []
        with writing.Daemon(directory) as mount, writing.deadline():
            for column in columns:
                for path, data in writing.FILES[column](0, 500).items():
                    with open(os.path.join(mount.path, place, path), "rb") as file:
                        if (found := file.read()) != data:
                            wrong.append(("mount", f"{path} has {len(found)} bytes, or others"))
            mount.unmount()
        return wrong

    run = crash_run.Run(recording.read_log(log), str(initial), stories.FILE, {})
    images = 4 * campaign.LENGTH["mounted_images"]
    verdict = crash_run.examine_directories(run, holds_all, images, campaign.SEED)
    campaign.report(f"synced, then committed in /{folder}: {verdict}")
    assert verdict.images > 20 and verdict.failures == [], f"seed {campaign.SEED}: {verdict}"


@pytest.mark.parametrize("beside", ["nothing", "commits"])
def test_what_fsync_returned_for_survives(reader, tmp_path, beside):
    """Columns of an unfinished table, fsynced one by one: each image, when mounted, has all columns whose fsync had
    returned. Commits of large tables beside it make the daemon rewrite the journal."""
    files, initial, log = tmp_path / "files", tmp_path / "initial", tmp_path / "log"
    files.mkdir(), initial.mkdir()
    columns = {f"c{number}.i4": writing.numbered(number)(1000 + 100 * number).tobytes() for number in range(6)}
    with writing.Daemon(files, log) as daemon, writing.deadline():
        table = os.path.join(daemon.path, stories.FILE, "Events")
        os.makedirs(table)
        for name, data in columns.items():
            writing.write(os.path.join(table, name), data, sync=True)
            recording.mark(f"synced {name}", log)
            if beside == "commits":
                other = os.path.join(daemon.path, stories.FILE, "of_" + name.removesuffix(".i4"))
                writing.write_table(other, 0, 200_000, ("px",), fsync=True)
                assert daemon.command("commit", other) == 0
        daemon.process.kill()
    operations = recording.read_log(log)
    assert any(o.kind == recording.RENAME and o.other.endswith("-journal") for o in operations) == (beside == "commits")

    def holds_what_was_synced(directory, after):
        wanted = [o.path[7:] for o in operations[:after] if o.kind == recording.MARK and o.path.startswith("synced ")]
        wrong = []
        with writing.Daemon(directory) as mount, writing.deadline():
            for name in wanted:
                try:
                    with open(os.path.join(mount.path, stories.FILE, "Events", name), "rb") as file:
                        if file.read() != columns[name]:
                            wrong.append(("mount", f"{name} differs"))
                except OSError as error:
                    wrong.append(("mount", f"{name}: {error.strerror}"))
            mount.unmount()
        return wrong

    run = crash_run.Run(operations, str(initial), stories.FILE, {})
    kills = lambda image: image.how.startswith("killed")
    stops = lambda image: not kills(image)
    for only, ignored, expected in (kills, [], True), (stops, [], True), (stops, run.syncs(), False):
        verdict = crash_run.examine_directories(
            run,
            holds_what_was_synced,
            campaign.LENGTH["images"],
            campaign.SEED,
            only=only,
            one_in=campaign.LENGTH["images"] // campaign.LENGTH["mounted_images"],
            ignored_syncs=ignored,
            stop_at_first=not expected,
        )
        campaign.report(f"fsynced columns, {beside} beside{'' if expected else ', no barrier at all'}: {verdict}")
        assert verdict.images > 0 and (verdict.failures == []) == expected, f"seed {campaign.SEED}: {verdict}"
