"""Hudi's catalogue: every option is exactly one of honoured, without effect, refused."""

from __future__ import annotations

import ast
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from sys import executable

import pytest

from hoodie.config import own_options
from hoodie.config.catalogue import Entry, Verdict, catalogue, find
from hoodie.config.groups import CLEAN_OPTIONS, GROUPS, INGEST_OPTIONS, WRITE_OPTIONS
from hoodie.config.key import ConfigKey, as_text, resolve
from hoodie.config.service_options import check_option, declared
from hoodie.errors import ConfigError
from tests.support.faults import assert_no_faults

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


def test_exactly_one_of_three():
    assert_no_faults(fault for entry in ENTRIES.values() for fault in _faults(entry))


def _faults(entry: Entry) -> Iterator[str]:
    """Yield what is wrong with an entry and its aliases."""
    if (declared(entry.key) is not None) != (entry.kind is None):
        yield f"{entry.key}: a service declares it and the catalogue gives a kind, or neither does"
    if not entry.meaning:
        yield f"{entry.key}: it has no meaning"
    for alias in entry.aliases:
        other = find(alias)
        if other is None or other.kind != entry.kind:
            yield f"{entry.key}: the alias {alias} has another kind"
        if (declared(alias) is not None) != (entry.kind is None):
            yield f"{entry.key}: the alias {alias} is not declared as the key is"
    allowed = entry.key == "hoodie.merge.allow.duplicate.on.inserts"
    if entry.verdict is Verdict.REFUSED and entry.asks_for_more(entry.default) and not allowed:
        yield f"{entry.key}: Hudi's default {entry.default!r} is refused"


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


# On in Hudi and off here, or another value: docs/reference/options.md says why.
DIFFERENT = {
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.datasource.hive_sync.enable": "true",
    "hoodie.datasource.hive_sync.mode": "JDBC",
    "hoodie.parquet.compression.codec": "ZSTD",
    "hoodie.table.timeline.timezone": "UTC",
}


def test_defaults_are_hudis_or_are_said_to_differ():
    """A key without a default is inferred or required, so it has nothing to compare."""
    page = (ROOT / "docs/reference/options.md").read_text()
    compared = [key for key in KEYS if key.name in ENTRIES and key.default is not None]
    assert len(compared) > 100
    assert_no_faults(fault for key in compared for fault in _faults_of_default(key, page))


def _faults_of_default(key: ConfigKey, page: str) -> Iterator[str]:
    """Yield how a default differs from Hudi's without being in DIFFERENT and on the page of options."""
    hudis = ENTRIES[key.name].default
    if key.name in DIFFERENT:
        if as_text(key.default) != DIFFERENT[key.name]:
            yield f"{key.name}: {as_text(key.default)} here, {DIFFERENT[key.name]} in DIFFERENT"
        if f"| `{key.name}` |" not in page:
            yield f"{key.name}: it has no row in docs/reference/options.md"
    elif hudis and key.default != resolve({key.name: hudis}, [key])[key]:
        yield f"{key.name}: {as_text(key.default)} here, {hudis} in Hudi"


def test_every_declared_option_is_read():
    """A key that nothing but its declaration and the tuples of keys names would be an option without effect."""
    declared_in: dict[str, str] = {}
    read: set[tuple[str, str]] = set()
    files = [*(ROOT / "plugins/hoodie").rglob("*.py"), *(ROOT / "hudi_services").rglob("*.py")]
    texts = {file: file.read_text() for file in files}
    names = {name for text in texts.values() for name in re.findall(r"(?m)^(\w+) = (?:ConfigKey|_key)\b", text)}
    names |= {"ConfigKey", "_key"}
    for file, text in texts.items():
        if names.isdisjoint(re.findall(r"\w+", text)):  # other files take the time, and can read no key
            continue
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
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
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for node in nodes:
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
