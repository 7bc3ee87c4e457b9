"""Hudi's catalogue: every option is exactly one of honoured, without effect, refused."""

from __future__ import annotations

import ast
import zipfile
from collections import Counter
from pathlib import Path
from subprocess import run
from sys import executable

import pytest

from hoodie.config import own_options
from hoodie.config.catalogue import Verdict, catalogue, find
from hoodie.config.groups import CLEAN_OPTIONS, GROUPS, INGEST_OPTIONS, WRITE_OPTIONS
from hoodie.config.key import resolve, shown
from hoodie.config.own import check_option, declared
from hoodie.errors import ConfigError

ROOT = Path(__file__).parents[3]
ENTRIES = {entry.key: entry for entry in catalogue().values()}
OF_NAME = {group.name: group for group in GROUPS}
KEYS = list(dict.fromkeys(key for group in GROUPS for key in group.keys))


def test_the_catalogue_is_hudis():
    assert len(ENTRIES) > 800, "663 of the Spark bundle, the rest of HoodieStreamer"
    for name in ("hoodie.clean.async", "hoodie.deltastreamer.source.dfs.root", "hoodie.bulkinsert.sort.mode"):
        assert find(name) is not None
    assert find("hoodie.clean.asynchronous") is None
    family = find("sasl.jaas.config")
    assert family is not None
    assert family.key == "sasl.*"


def test_no_option_is_there_twice():
    lines = (ROOT / "plugins/hoodie/config/catalogue/options.tsv").read_text().splitlines()
    keys = Counter(line.split("\t")[0] for line in lines if not line.startswith("#"))
    assert [key for key, count in keys.items() if count > 1] == []
    assert {line.count("\t") for line in lines if not line.startswith("#")} == {5}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.key)
def test_exactly_one_of_three(entry):
    ours = declared(entry.key)
    assert (ours is not None) == (entry.kind is None), "honoured is what a service declares, and nothing else"
    assert entry.meaning
    for alias in entry.aliases:
        other = find(alias)
        assert other is not None
        assert other.kind == entry.kind
        assert (declared(alias) is not None) == (entry.kind is None), alias
    if entry.verdict is Verdict.REFUSED:
        assert not entry.asks_for_more(entry.default) or entry.key == "hoodie.merge.allow.duplicate.on.inserts"


def test_every_option_is_taken_told_or_refused(caplog):
    for entry in ENTRIES.values():
        if entry.kind is None:
            continue
        service = OF_NAME[min(entry.kind.services)] if entry.kind.services else CLEAN_OPTIONS
        name = entry.key.replace("*", "something")
        if entry.verdict is Verdict.REFUSED:
            with pytest.raises(ConfigError, match="is refused") as refused:
                own_options({name: "surely.not.as.here"}, service)
            assert entry.kind.reason.rstrip(".") in str(refused.value)
            others = set(GROUPS) - {OF_NAME[name] for name in entry.kind.services}
            assert own_options({name: "surely.not.as.here"}, *others) == {}
        else:
            caplog.clear()
            assert own_options({name: "surely.not.as.here"}, service) == {}
            assert f"No effect here: {name} ({entry.kind.reason})" in caplog.text
        for value in ("", *entry.as_here):
            assert check_option(name, value, service) is None


def test_options_of_one_kind_are_told_in_one_line(caplog):
    given = {
        "hoodie.metrics.on": "true",
        "hoodie.metrics.reporter.type": "JMX",
        "hoodie.embed.timeline.server.async": True,
    }
    assert own_options(given, WRITE_OPTIONS) == {}
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
        "No effect here: hoodie.metrics.on, hoodie.metrics.reporter.type",
        "No effect here: hoodie.embed.timeline.server.async",
    ]


def test_a_secret_is_not_told():
    with pytest.raises(ConfigError) as refused:
        own_options({"hoodie.streamer.schemaprovider.registry.url": "https://me:secret@registry"}, INGEST_OPTIONS)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["hoodie.clean.automatical", "hoddie.clean.automatic", "clean.automatic", "sasl"])
def test_a_typing_error_is_an_error(name):
    with pytest.raises(ConfigError, match=f"{name}' is not known here"):
        own_options({name: "true"}, *GROUPS)


# On in Hudi and off here, or another value: docs/options.md says why.
DIFFERENT = {
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.datasource.hive_sync.enable": "true",
    "hoodie.datasource.hive_sync.mode": "JDBC",
    "hoodie.parquet.compression.codec": "ZSTD",
    "hoodie.table.timeline.timezone": "UTC",
}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_defaults_are_hudis_or_are_said_to_differ(key):
    """None of ours: what is absent is inferred, or asked for."""
    entry = ENTRIES.get(key.name)
    if entry is None or key.default is None:
        return
    if key.name in DIFFERENT:
        assert shown(key.default) == DIFFERENT[key.name]
        assert f"| `{key.name}` |" in (ROOT / "docs/options.md").read_text()
    elif entry.default:
        assert key.default == resolve({key.name: entry.default}, [key])[key]


def test_every_declared_option_is_read():
    """A key that nothing but its declaration and the tuples of keys names would be an option without effect."""
    declared_in: dict[str, str] = {}
    read: set[tuple[str, str]] = set()
    for file in [*(ROOT / "plugins/hoodie").rglob("*.py"), *(ROOT / "hudi_services").rglob("*.py")]:
        tree = ast.parse(file.read_text())
        lists = {
            id(inner)
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Tuple)
            for inner in ast.walk(node.value)
        }
        for node in tree.body:
            made = node.value if isinstance(node, ast.Assign) else None
            if isinstance(made, ast.Call) and _makes_key(made):
                declared_in[f"{file.stem}.{node.targets[0].id}"] = str(file)
        modules = {
            (name.asname or name.name): (node.module or "").rpartition(".")[2] if name.name.isupper() else name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for node in ast.walk(tree):
            if id(node) in lists:
                continue
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                read.add((modules.get(node.value.id, ""), node.attr))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                read.add((modules.get(node.id, file.stem), node.id))
    assert len(declared_in) > 100
    assert [name for name in declared_in if tuple(name.split(".")) not in read] == []


def _makes_key(call: ast.Call) -> bool:
    function = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    return isinstance(function, ast.Name) and function.id in ("ConfigKey", "_key")


def test_it_is_read_from_a_zip(tmp_path):
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for file in (ROOT / "plugins/hoodie").rglob("*"):
            if file.suffix in (".py", ".tsv"):
                target.write(file, file.relative_to(ROOT / "plugins"))
    code = "from hoodie.config.catalogue import find; import hoodie; print(find('hoodie.metrics.on').verdict, hoodie.__file__)"
    told = run([executable, "-c", code], env={"PYTHONPATH": str(archive)}, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("without effect")
    assert str(archive) in told.stdout
