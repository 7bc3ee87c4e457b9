"""The section `databases` of a registry: its mistakes have their keys and lines."""

from __future__ import annotations

from hudi_services.registry.load import read_registry

SERVERS = """
servers:
  shop: {type: mysql, connection: shop, server_id: 1, state: /lake/_state}
  bare: {type: mysql, connection: shop, server_id: 1}
  queue: {type: kafka, connection: queue}
databases:
"""


def test_rules_are_checked_against_their_servers(tmp_path):
    file = tmp_path / "tables.yaml"
    rules = ("{server: shop, database: a, base_path: '${LAKE}/{table}'}", "{server: bare, database: a, base_path: /x}")
    others = ("{server: queue, database: a, base_path: /x}", "{server: sho, database: '(', base_path: '${NO}'}", "5")
    unknown = "{server: sho, database: a, base_path: /x, table: t}"
    listed = [*rules, *others, unknown, "{server: sho, database: a, base_path: /x}"]
    file.write_text(SERVERS + "\n".join(f"  - {rule}" for rule in listed))
    reading = read_registry(file, {"LAKE": "/lake"})
    assert [rule.base_path for rule in reading.registry.databases] == ["/lake/{table}"]
    messages = "\n".join(map(str, reading.mistakes))
    for words in (
        "databases.1.server: names 'bare', which has no `state`",
        "databases.2.server: names 'queue', which is a server of Kafka",
        "databases.3.base_path: the environment variable NO is not set",
        "databases.3.database: '(' is no regular expression",
        "databases.4: must be a mapping",
        "databases.5.table: is not an option; did you mean 'tables'?",
        "databases.6.server: names 'sho', which is no server of the registry; did you mean 'shop'?",
    ):
        assert words in messages, messages
    file.write_text("databases: {}")
    assert "databases: must be a list of rules" in "\n".join(map(str, read_registry(file).mistakes))


PIPELINE = r"""
source: {type: mysql, hostname: db, username: lake, password: pa55word, tables: 'b1.\.*'}
sink: {type: hudi, path: '${LAKE}'}
pipeline: {name: b1}
"""


def test_a_pipeline_is_named_by_its_file_and_uses_the_server_of_the_registry(tmp_path):
    file = tmp_path / "tables.yaml"
    (tmp_path / "flink").mkdir()
    (tmp_path / "flink/good.yaml").write_text(PIPELINE)
    (tmp_path / "flink/bad.yaml").write_text(
        PIPELINE.replace("type: hudi", "type: paimon").replace("name: b1", "nam: 5")
    )
    good = "{server: shop, pipeline: flink/good.yaml}"
    others = (
        "{server: bare, pipeline: flink/good.yaml}",
        "{server: shop, pipeline: 5}",
        "{pipeline: a.yaml, base_path: /x}",
    )
    file.write_text(
        SERVERS + "\n".join(f"  - {rule}" for rule in (good, "{server: shop, pipeline: flink/bad.yaml}", *others))
    )
    reading = read_registry(file, {"LAKE": "/lake"})
    [rule] = reading.registry.databases
    assert (rule.server, rule.path_of("b1", "t"), rule.takes("b1", "t")) == ("shop", "/lake/b1/t", True)
    messages = "\n".join(map(str, reading.mistakes))
    for words in (
        f"{tmp_path}/flink/bad.yaml:3: sink.type: has to be hudi",
        f"{tmp_path}/flink/bad.yaml:4: pipeline.nam: is not there",
        "tables.yaml:9: databases.2.server: names 'bare', which has no `state`",
        "databases.3.pipeline: must be the path of a pipeline",
        "databases.4.base_path: is not an option",
        "databases.4.server: is missing",
        f"{tmp_path}/a.yaml:1: file: cannot be read",
    ):
        assert words in messages, messages
    assert "pa55word" not in messages
