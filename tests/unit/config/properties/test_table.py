"""A table's properties: what options make of them, and what they say about a table."""

from __future__ import annotations

import pickle
from datetime import UTC

import pytest

from hoodie import HoodieTable
from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.keys.table import CREATE_KEYS
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, UnsupportedTableError
from tests.support.tables import create

GIVEN = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
KEYGEN = "hoodie.table.keygenerator.class"
PAYLOAD = "hoodie.compaction.payload.class"


def made(**options):
    return new_table_properties(resolve({**GIVEN, **options}, CREATE_KEYS))


PARTITIONED = {"hoodie.table.partition.fields": "part"}
ORDERED = {"hoodie.table.ordering.fields": "ts"}
SIX = {"hoodie.write.table.version": "6"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "NON_PARTITION"),
        (PARTITIONED, "SIMPLE"),
        ({"hoodie.table.partition.fields": "a,b", "hoodie.table.recordkey.fields": "a,b"}, "COMPLEX"),
        ({**PARTITIONED, "hoodie.table.recordkey.fields": "a,b"}, "COMPLEX"),
        ({"hoodie.table.recordkey.fields": "a,b"}, "NON_PARTITION"),
        ({**PARTITIONED, KEYGEN: "org.apache.hudi.keygen.SimpleAvroKeyGenerator"}, "SIMPLE"),
    ],
)
@pytest.mark.parametrize("version", [{}, SIX], ids=["9", "6"])
def test_the_key_generator_fits_the_columns(options, expected, version):
    properties = made(**options, **version)
    assert properties.keygen_type == expected
    assert properties.flaw is None


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, "COMMIT_TIME_ORDERING"),
        (ORDERED, "EVENT_TIME_ORDERING"),
        ({**ORDERED, "hoodie.record.merge.mode": "commit_time_ordering"}, "COMMIT_TIME_ORDERING"),
    ],
)
@pytest.mark.parametrize("version", [{}, SIX], ids=["9", "6"])
def test_the_merge_mode_follows_the_ordering_field(options, mode, version):
    properties = made(**options, **version)
    assert properties.merge_mode == mode
    assert properties.ordering_fields == (("ts",) if options else ())
    # version 6 chooses within a batch by its precombine field, in every mode
    chooses = options and (version or mode == "EVENT_TIME_ORDERING")
    assert properties.precombine_fields == (("ts",) if chooses else ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}, "needs an ordering field"),
        ({**SIX, "hoodie.table.ordering.fields": "a,b"}, "one ordering field at most"),
        ({"hoodie.table.keygenerator.type": "SIMPLE"}, "use NON_PARTITION"),
        ({**PARTITIONED, "hoodie.table.keygenerator.type": "NON_PARTITION"}, "use SIMPLE"),
        ({**PARTITIONED, "hoodie.table.keygenerator.type": "COMPLEX"}, "ambiguous between Hudi releases"),
        ({"hoodie.table.partition.fields": "a,b", "hoodie.table.keygenerator.type": "SIMPLE"}, "use COMPLEX"),
        ({**PARTITIONED, KEYGEN: "org.apache.hudi.keygen.TimestampBasedKeyGenerator"}, "timestamp.type is missing"),
        ({**PARTITIONED, KEYGEN: "org.example.MyKeyGenerator"}, "cannot be used"),
        (
            {**PARTITIONED, KEYGEN: "a.SimpleKeyGenerator", "hoodie.table.keygenerator.type": "COMPLEX"},
            "cannot be used",
        ),
        ({**SIX, "hoodie.table.partition.fields": "a,b"}, "HUDI-7001"),
        ({"hoodie.table.type": "MERGE"}, "one of COPY_ON_WRITE, MERGE_ON_READ"),
        ({"hoodie.table.name": " "}, "a name that is not empty"),
        ({"hoodie.table.recordkey.fields": "id,id"}, r"'id,id'.*each column once"),
        ({"hoodie.table.partition.fields": "p:SIMPLE,p:TIMESTAMP"}, "each column once"),
        ({"hoodie.table.ordering.fields": "ts, ts"}, "each column once"),
        ({"hoodie.table.cdc.enabled": "true", "hoodie.write.table.version": "6"}, "table version 6"),
        ({"hoodie.table.cdc.enabled": "true", "hoodie.populate.meta.fields": "false"}, "virtual keys"),
        ({"hoodie.table.cdc.supplemental.logging.mode": "all"}, "DATA_BEFORE_AFTER"),
    ],
)
def test_options_that_cannot_work_together_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        made(**options)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            {"hoodie.populate.meta.fields": "false", "hoodie.table.keygenerator.type": "GLOBAL_DELETE"},
            "virtual keys with the GLOBAL_DELETE",
        ),
        ({"hoodie.table.cdc.enabled": "true", "hoodie.table.version": "6"}, "change data capture with table version 6"),
        ({"hoodie.table.cdc.enabled": "true", "hoodie.populate.meta.fields": "false"}, "with virtual keys"),
        (
            {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "all"},
            "logging mode 'ALL'",
        ),
        ({"hoodie.datasource.write.drop.partition.columns": "true"}, "without their partition columns"),
        ({"hoodie.table.base.file.format": "ORC"}, "not Parquet"),
        ({"hoodie.table.keygenerator.type": "SPARK_SQL"}, "key generator that is not supported"),
        ({"hoodie.record.merge.mode": "CUSTOM"}, "merges records in a way"),
        ({"hoodie.table.version": "5"}, "version that is not supported"),
    ],
)
def test_a_table_that_we_cannot_write_is_named_with_the_property(raw, message):
    properties = made().with_values(raw)
    with pytest.raises(UnsupportedTableError, match=message):
        properties.check_writable()


@pytest.mark.parametrize("stored", ["ORC", "avro"])
def test_a_table_whose_base_files_are_not_parquet_is_refused_on_open(tmp_path, stored):
    table = create(tmp_path)
    properties = tmp_path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("base.file.format=PARQUET", f"base.file.format={stored}"))
    with pytest.raises(UnsupportedTableError, match=f"base files of {stored.upper()}"):
        HoodieTable.open(str(tmp_path))
    with pytest.raises(UnsupportedTableError, match=f"base files of {stored.upper()}"):
        table.diagnose()


def test_older_properties_are_understood():
    properties = TableProperties(
        {
            "hoodie.table.name": "t",
            "hoodie.table.version": "6",
            "hoodie.table.partition.fields": "a:SIMPLE,b:TIMESTAMP",
            "hoodie.table.precombine.field": "ts",
            KEYGEN: "org.apache.hudi.keygen.ComplexAvroKeyGenerator",
            PAYLOAD: "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
            "hoodie.table.timeline.timezone": "utc",
        }
    )
    assert properties.partition_fields == ("a", "b")
    assert properties.ordering_fields == ("ts",)
    assert properties.keygen_type == "COMPLEX"
    assert properties.merge_mode == "EVENT_TIME_ORDERING"
    assert properties.timezone is UTC
    with pytest.raises(UnsupportedTableError, match="AWSDmsAvroPayload"):
        _ = properties.with_values({PAYLOAD: "org.apache.hudi.payload.AWSDmsAvroPayload"}).merge_mode


def test_unknown_keys_are_kept_and_a_copy_travels_to_workers():
    properties = made().with_values({"somebody.elses": "1"}, without=["hoodie.table.format"])
    assert properties.raw["somebody.elses"] == "1"
    assert "hoodie.table.format" not in properties.raw
    assert pickle.loads(pickle.dumps(properties)) == properties
