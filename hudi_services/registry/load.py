"""Reads the registry file: defaults laid under each table, everything checked, all mistakes reported together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from hoodie.config import laid_over
from hoodie.model.place import identity
from hudi_services.entry.alerts import Alerts
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.entry.doctor import Doctor
from hudi_services.entry.judge import Judge
from hudi_services.entry.mistake_text import mistake_message, place_of, unknown
from hudi_services.entry.rounds import Rounds
from hudi_services.entry.server import AnyServer
from hudi_services.entry.table import History, Pools, Table
from hudi_services.entry.watch import Watch
from hudi_services.entry.yaml_positions import Marked, Path, Problem, read_marked
from hudi_services.registry.claims import Claims, Key
from hudi_services.registry.contradictions import contradictions, undeclared_pool
from hudi_services.registry.mistakes import LeftOut, Mistake, as_error, left_out, not_utf_8
from hudi_services.registry.options import wrong_options
from hudi_services.registry.rules import checked_pipeline, checked_rule
from hudi_services.registry.sections import table_model
from hudi_services.registry.servers import checked_server, with_server
from hudi_services.registry.variables import PATH_KEYS, expand
from hudi_services.services.entries import ENTRIES, Entries, services_by_objectives

_OF_ALL = ("history", "objectives", "pages")
"""Sections that say the same of every table, and may be said in its entry."""
_SECTIONS = ("alerts", "databases", "defaults", "doctor", *_OF_ALL, "judge", "pools", "servers", "tables", "watch")
_LISTS = {"tables": "tables", "databases": "rules"}
_TOPS = {(name,) for name in _OF_ALL}
_POOLS = TypeAdapter(Pools)
R = TypeVar("R", bound=Rounds)


@dataclass(frozen=True)
class Registry:
    """The contents of a registry file: the tables that can be used, the pools (name -> slots) that limit how many services run
    at once, the rounds of the doctor and of the judge, the watcher, the alerts, the servers of databases and topics by name,
    and the rules for tables of whole databases."""

    file: str
    tables: tuple[Table, ...] = ()
    pools: Mapping[str, int] = field(default_factory=dict)
    doctor: Doctor | None = None
    judge: Judge | None = None
    watch: Watch = field(default_factory=Watch)
    alerts: Alerts | None = None
    servers: Mapping[str, AnyServer] = field(default_factory=dict)
    databases: tuple[DatabaseRule, ...] = ()

    def table(self, name: str) -> Table | None:
        return next((table for table in self.tables if table.name == name), None)

    @property
    def histories(self) -> tuple[History, ...]:
        """The histories of its tables, without duplicates."""
        result = [table.history for table in self.tables if table.history is not None]
        return tuple({identity(history.path): history for history in result}.values())


@dataclass(frozen=True)
class Reading:
    """The result of reading a registry file: the good tables, and the mistakes that keep others out.

    `left_out` are those of them that a server has. `wrong_rules` are mistakes in rules for whole databases, by the server
    that a rule names, or by an empty text where it names none.
    """

    registry: Registry
    mistakes: tuple[Mistake, ...]
    left_out: tuple[LeftOut, ...] = ()
    wrong_rules: Mapping[str, tuple[Mistake, ...]] = field(default_factory=dict)


def load_registry(file: str | PathLike[str], environ: Mapping[str, str] = os.environ) -> Registry:
    """The whole registry. Raises RegistryError that lists every mistake with file, line and key."""
    reading = read_registry(file, environ)
    if reading.mistakes:
        raise as_error(str(file), reading.mistakes)
    return reading.registry


def read_registry(
    file: str | PathLike[str],
    environ: Mapping[str, str] = os.environ,
    only: str | None = None,
    entries: Entries = ENTRIES,
) -> Reading:
    """The tables that are right, and the mistakes of the others; one bad table does not stop the rest.

    With `only`, the name of a table, only names and places of the others are looked at, as two tables cannot share one: that
    is quick also in a registry of thousands.
    """
    file_name = str(file)
    try:
        data = FilePath(file).read_bytes()
        text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line, message = not_utf_8(data, error.start, file_name)
        return Reading(Registry(file_name), (Mistake(file_name, line, "file", message),))
    except OSError as error:
        from hoodie.storage.rights import access_denied, is_denied  # its package loads Arrow

        reason = str(error)
        if is_denied(error):
            denied = access_denied("reading the registry", error)
            reason = f"{denied.found}; {denied.fix}"
        return Reading(Registry(file_name), (Mistake(file_name, 1, "file", f"cannot be read: {reason}"),))
    return _Checker(file_name, read_marked(text), environ, only, entries).reading()


class _Checker:
    def __init__(
        self, file: str, marked: Marked, environ: Mapping[str, str], only: str | None, entries: Entries
    ) -> None:
        self._file = file
        self._marked = marked
        self._environ = environ
        self._only = only
        self._entries = entries
        self._model = table_model(entries)
        self._places = [*PATH_KEYS, *((entry.name, *place) for entry in entries for place in entry.section.places)]
        self._mistakes: set[Mistake] = set()
        self._bad: set[int] = set()
        self._wrong_rules: dict[str, tuple[Mistake, ...]] = {}
        self._claims = Claims()

    def reading(self) -> Reading:
        for problem in self._marked.problems:
            self._add_problem(problem)
        data = self._marked.data if self._marked.data is not None else {}
        if not isinstance(data, dict):
            self._add((), "must be a mapping with the sections " + ", ".join(_SECTIONS))
            data = {}
        for name in data.keys() - set(_SECTIONS):
            self._add((name,), unknown(name, _SECTIONS))
        pools = self._pools(data.get("pools"))
        doctor = self._rounds("doctor", Doctor, data.get("doctor"), pools)
        judge = self._rounds("judge", Judge, data.get("judge"), pools)
        watch = self._watch(data.get("watch"))
        alerts = self._alerts(data.get("alerts"))
        servers = self._servers(self._section(data, "servers", dict))
        databases = self._databases(self._section(data, "databases", list), servers)
        defaults = self._section(data, "defaults", dict)
        defaults = _laid_over(defaults, {name: data[name] for name in _OF_ALL if data.get(name) is not None})
        tables: list[Table] = []
        for position, entry in enumerate(self._section(data, "tables", list)):
            if self._only is None or (isinstance(entry, dict) and entry.get("name") == self._only):
                table = self._table(position, entry, defaults, pools, servers)
                if table is not None and data.get("judge") is None:
                    for service in services_by_objectives(table, self._entries):
                        self._add(
                            ("tables", position, service, "schedule"), "needs a section judge, which says how often"
                        )
                if table is not None and position not in self._bad:
                    tables.append(table)
            elif isinstance(entry, dict):
                self._note_place(position, entry.get("base_path", defaults.get("base_path")))
        registry = Registry(self._file, tuple(tables), pools, doctor, judge, watch, alerts, servers, databases)
        bad = (_laid_over(entry, defaults) for entry in self._bad_entries())
        mistakes = tuple(sorted(self._mistakes, key=_order))
        return Reading(registry, mistakes, tuple(left_out(bad)), self._wrong_rules)

    def _bad_entries(self) -> Iterator[dict[str, Any]]:
        """The entries with mistakes that are mappings, in their order."""
        entries = [self._marked.data["tables"][position] for position in sorted(self._bad)]
        yield from (entry for entry in entries if isinstance(entry, dict))

    def _section(self, data: dict[str, Any], name: str, kind: type[Any]) -> Any:
        value = data.get(name)
        if value is not None and not isinstance(value, kind):
            self._add((name,), f"must be a list of {_LISTS[name]}" if kind is list else "must be a mapping")
            value = None
        return kind() if value is None else value

    def _pools(self, value: Any) -> dict[str, int]:
        try:
            return _POOLS.validate_python(value or {})
        except ValidationError as error:
            for problem in error.errors():
                self._add(("pools", *problem["loc"]), mistake_message(problem, self._model))
            return {}

    def _rounds(self, name: str, kind: type[R], value: Any, pools: Mapping[str, int]) -> R | None:
        """The values of the section `name`; None if the registry has none, or one with mistakes."""
        if value is None:
            return None
        try:
            rounds = kind.model_validate(value)
        except ValidationError as error:
            for problem in error.errors():
                self._add((name, *problem["loc"]), mistake_message(problem, kind))
            return None
        if wrong := undeclared_pool(rounds.pool, pools):
            self._add((name, "pool"), wrong)
            return None
        return rounds

    def _watch(self, value: Any) -> Watch:
        """The values of the section `watch`; the defaults if there is none, or one with mistakes."""
        result = dict(value) if isinstance(value, dict) else value
        try:
            if isinstance(result, dict) and isinstance(result.get("store"), str):
                result["store"] = expand(result["store"], self._environ)
            return Watch.model_validate(result if result is not None else {})
        except ValidationError as error:
            for problem in error.errors():
                self._add(("watch", *problem["loc"]), mistake_message(problem, Watch))
        except ValueError as error:
            self._add(("watch", "store"), str(error))
        return Watch()

    def _alerts(self, value: Any) -> Alerts | None:
        """The values of the section `alerts`; None if there is none, or one with mistakes. Values may be secrets."""
        if value is None:
            return None
        try:
            return Alerts.model_validate(value)
        except ValidationError as error:
            for problem in error.errors():
                self._add(("alerts", *problem["loc"]), mistake_message(problem, Alerts, secret=True))
        return None

    def _servers(self, section: dict[str, Any]) -> dict[str, AnyServer]:
        """Return the servers without mistakes."""
        servers = {}
        unclear = {
            problem.path[1] for problem in self._marked.problems if problem.path[0] == "servers" and problem.path[1:]
        }
        for name, value in section.items():
            server, wrong = checked_server(value)
            for path, message in wrong:
                self._add(("servers", name, *path), message)
            if server is not None and name not in unclear:
                servers[str(name)] = server
        return servers

    def _databases(self, section: list[Any], servers: Mapping[str, AnyServer]) -> tuple[DatabaseRule, ...]:
        """Return the rules without mistakes."""
        rules: list[DatabaseRule] = []
        for position, value in enumerate(section):
            declared, before = self._marked.data.get("servers"), set(self._mistakes)
            if isinstance(value, dict) and "pipeline" in value:
                folder = FilePath(self._file).parent
                piped, wrong, mistakes = checked_pipeline(value, servers, declared, self._environ, folder)
                rules += piped
                self._mistakes.update(mistakes)
            else:
                rule, wrong = checked_rule(value, servers, declared, self._environ)
                rules += [rule] if rule is not None else []
            for path, message in wrong:
                self._add(("databases", position, *path), message)
            if added := self._mistakes - before:
                server = value.get("server") if isinstance(value, dict) else None
                server = server if isinstance(server, str) else ""
                self._wrong_rules[server] = (*self._wrong_rules.get(server, ()), *sorted(added, key=_order))
        return tuple(rules)

    def _table(
        self,
        position: int,
        entry: Any,
        defaults: dict[str, Any],
        pools: Mapping[str, int],
        servers: Mapping[str, AnyServer],
    ) -> Table | None:
        place: Path = ("tables", position)
        if not isinstance(entry, dict):
            self._add(place, "must be a mapping")
            return None
        merged = _laid_over(entry, defaults)
        for path, message in [*self._name_tables(merged), *self._expand_paths(merged)]:
            self._add((*place, *path), message)
        self._claim(position, "name", merged.get("name"))
        self._claim(position, "base_path", merged.get("base_path"))
        for path, message in wrong_options(merged, self._entries):
            self._add((*place, *path), message)
        try:
            table = self._model.model_validate(merged)
        except ValidationError as error:
            for problem in error.errors():
                self._add((*place, *place_of(problem)), mistake_message(problem, self._model, data=merged))
            return None
        table, wrong = with_server(table, servers, self._marked.data.get("servers"))
        if wrong is not None:
            self._add((*place, "source", "server"), wrong)
        for path, message in contradictions(table, pools, self._entries):
            self._add((*place, *path), message)
        return table

    def _name_tables(self, entry: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Puts the base path of each other table that a service's section names beside its name."""
        for service in self._entries:
            section: Any = entry.get(service.name)
            for key, place in service.section.tables if isinstance(section, dict) else ():
                name = section.get(key)
                if not isinstance(name, str):
                    continue
                if section.get(place) is not None:
                    yield (service.name, place), f"contradicts {key}: {name!r} has a base path of its own; remove one"
                elif name == entry.get("name"):
                    yield (service.name, key), "names the table itself"
                elif (path := self._base_path_of(name)) is None:
                    yield (service.name, key), f"names {name!r}, which is no table of the registry"
                else:
                    section[place] = path

    def _base_path_of(self, name: str) -> str | None:
        """The base path of the table of that name, which may have other mistakes. None: there is no such table."""
        tables = self._marked.data.get("tables")
        named = (table for table in tables if isinstance(table, dict) and table.get("name") == name)
        base_path = next(named, {}).get("base_path")
        return base_path if isinstance(base_path, str) else None

    def _expand_paths(self, entry: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Puts the values of environment variables into the entry's paths."""
        for path in self._places:
            inner: Any = entry
            for step in path[:-1]:
                inner = inner.get(step) if isinstance(inner, dict) else None
            if isinstance(inner, dict) and isinstance(text := inner.get(path[-1]), str):
                try:
                    inner[path[-1]] = expand(text, self._environ)
                except ValueError as error:
                    yield path, str(error)

    def _claim(self, position: int, key: Key, value: object) -> None:
        """A name or a place that an earlier table has is the later one's mistake."""
        for claim in self._claims.conflicts(position, key, value):
            other = f"{self._name(claim.position)!r} on line {self._marked.line(('tables', claim.position, key))}"
            self._add(("tables", position, key), f"{value!r} {claim.relation} the {key} of {other}")

    def _note_place(self, position: int, value: object) -> None:
        """Note the place of a table that is not looked at otherwise: another one cannot have it, nor lie inside it."""
        with suppress(ValueError):  # a variable is not set: the table has a mistake, and no place
            self._claims.note(position, expand(value, self._environ) if isinstance(value, str) else value)

    def _name(self, position: int) -> str:
        entry = self._marked.data["tables"][position]
        name = entry.get("name") if isinstance(entry, dict) else None
        return name if isinstance(name, str) else f"tables[{position}]"

    def _add_problem(self, problem: Problem) -> None:
        """A value that YAML leaves unclear for all tables, as of a key that is given twice, keeps each of them out."""
        self._add(problem.path, problem.message, problem.line)
        tables = self._marked.data.get("tables") if isinstance(self._marked.data, dict) else None
        if problem.path[0] in ("defaults", *_OF_ALL) and isinstance(tables, list):
            inside = problem.path[1:] if problem.path[0] == "defaults" else problem.path
            for position in range(len(tables)):
                self._add(
                    ("tables", position, *inside), f"{problem.message}, in what holds for all tables", problem.line
                )

    def _add(self, path: Path, message: str, line: int | None = None) -> None:
        """A mistake in a table's entry is shown under the table's name, on the defaults' line if it comes from there."""
        where, display_path, table = path, path, None
        if len(path) > 1 and path[0] == "tables":
            position, inside = int(path[1]), path[2:]
            table = self._name(position)
            display_path = (table, *inside)
            self._bad.add(position)
            places = (path, ("defaults", *inside), *([inside] if inside[:1] in _TOPS else []))
            where = next((place for place in places if place in self._marked.lines), path)
        key = ".".join(map(str, display_path)) or "file"
        self._mistakes.add(Mistake(self._file, line or self._marked.line(where), key, message, table))


def _order(mistake: Mistake) -> tuple[int, str, str]:
    return mistake.line, mistake.key, mistake.message


def _laid_over(entry: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The entry, with the defaults where it is silent; mappings key by key, lists and values as a whole. An option replaces
    that of the defaults also under another of its names."""
    merged = {key: _laid_over({}, value) if isinstance(value, dict) else value for key, value in defaults.items()}
    for key, value in entry.items():
        below = merged.get(key)
        if key == "hoodie" and isinstance(value, dict) and isinstance(below, dict):
            merged[key] = laid_over(value, below)
        elif isinstance(value, dict):
            merged[key] = _laid_over(value, below if isinstance(below, dict) else {})
        else:
            merged[key] = value
    return merged
