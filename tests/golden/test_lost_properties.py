"""The properties of Hudi's own tables come back as Hudi wrote them."""

from __future__ import annotations

import shutil

import pytest

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.key import resolve
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.properties.store import PROPERTIES
from hoodie.doctor.properties_recovery import plan_recovery, recover_properties_of
from hoodie.storage import open_storage
from hoodie.transaction.create import new_properties
from hoodie.transaction.locks import Locking

LOCKING = Locking.of(resolve({}, LOCK_KEYS))

HIVE, VERSION = "hoodie.datasource.write.hive_style_partitioning", "hoodie.write.table.version"
OF_OPTIONS = ("hoodie.table.name", "hoodie.table.type", "hoodie.table.recordkey.fields", "hoodie.table.partition.fields",
              "hoodie.table.ordering.fields", "hoodie.database.name", "hoodie.table.timeline.timezone", HIVE)  # fmt: skip
ELSEWHERE = {
    "hoodie.table.checksum",  # of the other lines
    "hoodie.table.create.schema",  # of a table without a commit
    "hoodie.table.index.defs.path",  # of indexes of the metadata table, which Hudi's next write makes again
    "hoodie.table.metadata.partitions",
    "hoodie.table.metadata.partitions.inflight",
    "hoodie.table.partition_extractor_class",  # of the Hive sync, for tables without partitions
}


@pytest.mark.parametrize("name", ["cow_hive", "mor_avro", "mor_pendcomp", "cow_np"])
def test_a_table_of_hudi_gets_the_properties_that_it_had(golden, tmp_path, name):
    path = shutil.copytree(golden("12v9") / name, tmp_path / name)
    table = HoodieTable.open(path)
    had, rows = dict(table.state().properties.raw), table.read()
    (path / PROPERTIES).unlink()
    options = {**{key: had[key] for key in OF_OPTIONS if had.get(key)}, VERSION: had["hoodie.table.version"]}
    storage = open_storage(str(path))
    recover_properties_of(
        storage, SystemClock(), plan_recovery(storage, SystemClock(), new_properties(options)), LOCKING
    )
    table = HoodieTable.open(path)
    has = dict(table.state().properties.raw)
    assert {key for key in {*had, *has} - ELSEWHERE if had.get(key) != has.get(key)} == set()
    assert table.read().equals(rows)
