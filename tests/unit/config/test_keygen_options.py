"""Key generators: what a new table keeps of their options, what is refused, and that they never change."""

from __future__ import annotations

import pytest

from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.keygen_checks import with_keygen_options
from hoodie.config.keys.table import CREATE_KEYS, KEYGEN_KEYS
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, UnsupportedTableError

NEW, OLD = "hoodie.keygen.timebased.", "hoodie.deltastreamer.keygen.timebased."
TYPE, CLASS = "hoodie.datasource.write.keygenerator.type", "hoodie.datasource.write.keygenerator.class"
KEY, PARTITION = "hoodie.datasource.write.recordkey.field", "hoodie.datasource.write.partitionpath.field"
MILLIS = {NEW + "timestamp.type": "EPOCHMILLISECONDS", NEW + "output.dateformat": "yyyy/MM/dd"}
STAMPED = {KEY: "id", PARTITION: "at", TYPE: "TIMESTAMP", **MILLIS}
CUSTOM = {KEY: "id", PARTITION: "c:simple,at:timestamp", TYPE: "CUSTOM", **MILLIS}
HIVE = "hoodie.datasource.write.hive_style_partitioning"
SLASH = "hoodie.datasource.write.slash.separated.date.partitioning"


def made(options, **more):
    return new_table_properties(resolve({"hoodie.table.name": "t", **options, **more}, CREATE_KEYS))


def with_options(properties, options):
    return with_keygen_options(properties, resolve(options, KEYGEN_KEYS))


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({TYPE: "TIMESTAMP"}, "TIMESTAMP"),
        ({TYPE: "timestamp_avro"}, "TIMESTAMP"),
        ({CLASS: "org.apache.hudi.keygen.TimestampBasedKeyGenerator"}, "TIMESTAMP"),
        ({CLASS: "org.apache.hudi.keygen.TimestampBasedAvroKeyGenerator"}, "TIMESTAMP"),
        ({CLASS: "org.apache.hudi.keygen.CustomAvroKeyGenerator", PARTITION: "at:TIMESTAMP"}, "CUSTOM"),
        ({PARTITION: "at:TIMESTAMP"}, "CUSTOM"),
    ],
)
def test_types_and_classes(options, kind):
    given = {KEY: "id", PARTITION: "at", **MILLIS, **options}
    assert made(given).raw["hoodie.table.keygenerator.type"] == kind
    assert made(given, **{"hoodie.write.table.version": "6"}).keygen_type == kind


@pytest.mark.parametrize("name", ["GlobalDeleteKeyGenerator", "GlobalAvroDeleteKeyGenerator"])
def test_global_delete(name):
    assert made({KEY: "id", CLASS: f"org.apache.hudi.keygen.{name}"}).keygen_type == "GLOBAL_DELETE"


def test_both_families_are_kept_under_the_newer_name():
    old = {name.replace(NEW, OLD): value for name, value in STAMPED.items()}
    assert made(old).raw == made(STAMPED).raw
    assert made(STAMPED).raw[NEW + "timestamp.type"] == "EPOCHMILLISECONDS"


def test_a_custom_table_knows_its_types_in_every_version():
    nine, six = made(CUSTOM), made(CUSTOM, **{"hoodie.write.table.version": "6"})
    assert nine.raw["hoodie.table.partition.fields"] == "c:simple,at:timestamp"
    assert six.raw["hoodie.table.partition.fields"] == "c,at"
    for properties in (nine, six):
        assert properties.partition_fields == ("c", "at")
        assert properties.timestamp_partition_fields == ("at",)


def test_a_table_without_key_columns_has_no_such_property():
    assert "hoodie.table.recordkey.fields" not in made({}).raw
    assert made({PARTITION: "c"}).keygen_type == "SIMPLE"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**STAMPED, KEY: "id,n"}, "takes one record key column.*use CUSTOM"),
        ({**STAMPED, PARTITION: "at,c"}, "one partition column"),
        ({**STAMPED, PARTITION: ""}, "one partition column"),
        ({**STAMPED, PARTITION: "at:TIMESTAMP"}, "Only the CUSTOM"),
        ({**CUSTOM, PARTITION: "c,at:TIMESTAMP"}, "needs the type of each"),
        ({**CUSTOM, PARTITION: "c:DATE"}, "c:SIMPLE or c:TIMESTAMP"),
        ({**CUSTOM, PARTITION: "c:SIMPLE"}, "has no effect with the CUSTOM"),
        ({KEY: "id", PARTITION: "c", **MILLIS}, "has no effect with the SIMPLE"),
        ({TYPE: "GLOBAL_DELETE"}, "needs record key columns"),
        ({KEY: "id", PARTITION: "c", TYPE: "GLOBAL_DELETE"}, "does not fit the partition columns"),
        ({**STAMPED, TYPE: "AUTO_RECORD"}, "one of SIMPLE"),
        ({**STAMPED, NEW + "timestamp.type": "EPOCH"}, "one of UNIX_TIMESTAMP"),
        ({**STAMPED, NEW + "timestamp.type": "DATE_STRING"}, "input.dateformat is missing"),
        ({**STAMPED, NEW + "output.dateformat": ""}, "output.dateformat is missing"),
        ({**STAMPED, NEW + "timestamp.scalar.time.unit": "DAYS"}, "no effect with .*EPOCHMILLISECONDS"),
        ({**STAMPED, NEW + "timestamp.type": "SCALAR", NEW + "timestamp.scalar.time.unit": "WEEKS"}, "one of NANO"),
        ({**STAMPED, NEW + "input.dateformat": "yyyy"}, "no effect"),
        ({**STAMPED, NEW + "timezone": "UTC", NEW + "output.timezone": "GMT+8:00"}, "contradict each other"),
        ({**STAMPED, OLD + "timestamp.type": "SCALAR"}, "contradict each other"),
        ({**STAMPED, NEW + "input.dateformat.list.delimiter.regex": "("}, "a regular expression"),
        ({**STAMPED, "hoodie.keygen.datetime.parser.class": "my.Parser"}, "one of ORG"),
        ({**STAMPED, SLASH: "true"}, "TIMESTAMP key generator; only SIMPLE"),
        ({KEY: "id", PARTITION: "c", SLASH: "true", HIVE: "true"}, "names of columns"),
        ({KEY: "id", PARTITION: "c", SLASH: "true", "hoodie.write.table.version": "6"}, "would use other folders"),
    ],
)
def test_options_that_cannot_work_together(options, message):
    with pytest.raises(ConfigError, match=message):
        made(options)


@pytest.mark.parametrize("table", [STAMPED, CUSTOM], ids=["timestamp", "custom"])
@pytest.mark.parametrize("version", ["6", "9"])
def test_the_same_options_again_change_nothing(table, version):
    properties = made(table, **{"hoodie.write.table.version": version})
    assert with_options(properties, table) == properties


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (KEY, "n"),
        (PARTITION, "c"),
        (TYPE, "COMPLEX"),
        (CLASS, "org.apache.hudi.keygen.SimpleKeyGenerator"),
        (HIVE, "true"),
        (SLASH, "true"),
        ("hoodie.datasource.write.partitionpath.urlencode", "true"),
        (OLD + "timestamp.type", "UNIX_TIMESTAMP"),
        (NEW + "output.dateformat", "yyyy"),
        (NEW + "timezone", "UTC"),
    ],
)
def test_another_key_generator_is_refused_by_name(option, value):
    with pytest.raises(ConfigError, match="contradicts the table, whose key generator never changes"):
        with_options(made(STAMPED), {option: value})


def test_other_types_of_partition_columns_are_refused():
    with pytest.raises(ConfigError, match=r"partition.fields contradicts the table"):
        with_options(made(CUSTOM), {PARTITION: "c:TIMESTAMP,at:SIMPLE"})


def test_what_hudi_does_not_keep_of_a_custom_table_is_given_with_the_write():
    stored = {"hoodie.table.name": "t", "hoodie.table.partition.fields": "c,at", "hoodie.table.recordkey.fields": "id"}
    table = TableProperties({**stored, "hoodie.table.keygenerator.type": "CUSTOM"})
    with pytest.raises(UnsupportedTableError, match="how its Custom key generator treats the column 'c'"):
        _ = table.timestamp_partition_fields
    complete = with_options(table, CUSTOM)
    assert complete.timestamp_partition_fields == ("at",)
    assert complete.raw[NEW + "output.dateformat"] == "yyyy/MM/dd"


def test_hudi_0_15_keeps_all_but_the_type_of_a_time():
    raw = dict(made(STAMPED).raw)
    raw.pop(NEW + "timestamp.type")
    table = TableProperties(raw)
    assert with_options(table, MILLIS).raw[NEW + "timestamp.type"] == "EPOCHMILLISECONDS"
    with pytest.raises(ConfigError, match=r"output.dateformat contradicts the table"):
        with_options(table, {**MILLIS, NEW + "output.dateformat": "yyyy"})


def test_options_of_timestamps_without_a_timestamp_column():
    with pytest.raises(ConfigError, match="no effect: no partition column"):
        with_options(made({KEY: "id", PARTITION: "c"}), MILLIS)
