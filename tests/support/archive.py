"""Archives instants of a table as Apache Hudi does, in either layout."""

from __future__ import annotations

import io
import json
import struct

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.formats import avro_file
from hoodie.formats.log import BlockType, Header, encode_block
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

_LSM = pa.schema(
    [
        ("instantTime", pa.string()),
        ("completionTime", pa.string()),
        ("action", pa.string()),
        ("metadata", pa.binary()),
        ("plan", pa.binary()),
        pa.field("version", pa.int32(), nullable=False),
    ]
)
_MEMBERS = {
    Action.COMMIT: "hoodieCommitMetadata",
    Action.DELTA_COMMIT: "hoodieCommitMetadata",
    Action.REPLACE_COMMIT: "hoodieReplaceCommitMetadata",
    Action.CLEAN: "hoodieCleanMetadata",
    Action.ROLLBACK: "hoodieRollbackMetadata",
}


def archive(table, instants):
    """One run of an archiver: these completed instants go into one new file; then their own files are deleted."""
    state = table.state()
    bodies = [(instant, state.body(instant)) for instant in instants]
    folder = state.layout.archive_folder
    if table.version == 6:
        number = len(table.storage.list(folder).files)
        table.storage.create(f"{folder}/.commits_.archive.{number}_1-0-1", log_archive(bodies))
    else:
        add_history(table.storage, folder, lsm_rows(bodies))
    for instant in instants:
        for file in table.storage.list(state.layout.folder).files:
            if file.name.startswith((f"{instant.time}.", f"{instant.time}_")):
                table.storage.delete(file.path)


def archive_before(table, time):
    """Archive every instant that began before `time`; a file for each two."""
    old = [instant for instant in table.timeline if instant.time < time]
    assert old
    assert all(instant.is_completed for instant in old)
    for first in range(0, len(old), 2):
        archive(table, old[first : first + 2])


def beyond_savepoints(path, version, saved, kept, **options):
    """A table with a commit a partition, archived beyond the savepoints of some, as Hudi's archiver may; with its rows."""
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version}, **options)
    for number in range(9):
        table.write(batch([(f"k{number}", f"p{number}", 1, number)]), "upsert", SMALL_BLOOM)
    commits, rows = table.timeline.commits, content(table)
    for place in saved:
        table.savepoint(commits[place].time)
    archive(table, [commit for place, commit in enumerate(commits) if place not in {*saved, *kept}])
    return table, commits, rows


def lsm_rows(bodies):
    return [
        {
            "instantTime": instant.time,
            "completionTime": instant.completion_time,
            "action": str(instant.action),
            "metadata": body,
            "plan": None,
            "version": 1,
        }
        for instant, body in bodies
    ]


def add_history(storage, folder, rows, level=0):
    """Add a data file, and a manifest that names it with the older ones."""
    name = f"{rows[0]['instantTime']}_{rows[-1]['instantTime']}_{level}.parquet"
    with storage.open_output(f"{folder}/{name}") as sink:
        pq.write_table(pa.Table.from_pylist(rows, _LSM), sink)
    versions = [int(f.name[9:]) for f in storage.list(folder).files if f.name.startswith("manifest_")]
    files = json.loads(storage.read(f"{folder}/manifest_{max(versions)}"))["files"] if versions else []
    files.append({"fileName": name, "fileLen": storage.info(f"{folder}/{name}").size})
    version = max(versions, default=0) + 1
    storage.create(f"{folder}/manifest_{version}", json.dumps({"files": files}).encode())
    storage.delete(f"{folder}/_version_")
    storage.create(f"{folder}/_version_", str(version).encode())


def log_archive(bodies):
    """Entries of the pending and the completed states, in blocks of at most ten."""
    schema = avro_file.hudi_schema("HoodieArchivedMetaEntry")
    entries = []
    for instant, body in bodies:
        record = json.loads(body) if body.startswith(b"{") else avro_file.decode(body, "")
        entry = {"commitTime": instant.time, "actionType": str(instant.action)}
        entries += [entry | {"actionState": state} for state in ("REQUESTED", "INFLIGHT")]
        done = {"actionState": "COMPLETED", "stateTransitionTime": instant.completion_time}
        if instant.action in _MEMBERS:
            done[_MEMBERS[instant.action]] = record
        entries.append(entry | done)
    blocks = []
    for first in range(0, len(entries), 10):
        encoded = []
        for entry in entries[first : first + 10]:
            sink = io.BytesIO()
            fastavro.schemaless_writer(sink, schema, entry)
            encoded.append(struct.pack(">i", sink.tell()) + sink.getvalue())
        content = struct.pack(">ii", 3, len(encoded)) + b"".join(encoded)
        text = json.dumps({key: value for key, value in schema.items() if not key.startswith("__")})
        blocks.append(encode_block(BlockType.AVRO_DATA, {Header.SCHEMA: text}, content))
    return b"".join(blocks)
