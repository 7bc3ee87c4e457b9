"""Options of `spark.read.format("hoodie")`: Hudi's keys, as a path, a kind of read and the library's own options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.changes import ChangeQuery
from hoodie.errors import ConfigError
from hoodie.read.query import Incremental, Snapshot

PATH = "path"
_AS_OF = "as.of.instant"
_TYPE = ("hoodie.datasource.query.type", "hoodie.datasource.view.type")
_BEGIN = "hoodie.datasource.read.begin.instanttime"
_END = "hoodie.datasource.read.end.instanttime"
_FORMAT = "hoodie.datasource.query.incremental.format"

OF_CATALOG = frozenset({"owner", "provider", "location", "is_managed_location", "external", "comment", "collation"})
"""Properties that Spark gives to each table of its catalog, and hands to a source together with the user's when it is created."""

NO_PATH = (
    'name the table: {verb}("/data/lake/orders"). For a table of its catalog Spark gives a source of Python no path: '
    "{statement} orders WITH (path '/data/lake/orders')"
)

_TAKEN_BY = {
    "snapshot": (_AS_OF,),
    "read_optimized": (_AS_OF,),
    "incremental": (_BEGIN, _END, _FORMAT),
}


@dataclass(frozen=True)
class ReadRequest:
    """A read of a data source."""

    kind: Snapshot | Incremental | ChangeQuery
    options: Mapping[str, object]
    """Options for the library: the keys of `hoodie.config.keys.read`, and all others that were given."""


def asked_of(options: Mapping[str, str]) -> ReadRequest:
    """The read that `options` asks for, keys in lower case as Spark hands them over.

    Raises ConfigError for an unknown type of query or format of changes, for an incremental read without a begin, and for an
    option that the type of query would ignore: the query would read other rows than the user meant.
    """
    remaining = {name: value for name, value in options.items() if name != PATH and name not in OF_CATALOG}
    kinds = [remaining.pop(name) for name in _TYPE if name in remaining]
    kind = kinds[0].strip().lower() if kinds else "snapshot"
    if kind not in _TAKEN_BY:
        raise ConfigError(f"Option {_TYPE[0]}", found=kind, fix=f"set one of {', '.join(_TAKEN_BY)}")
    own = {name: remaining.pop(name) for name in (_AS_OF, _BEGIN, _END, _FORMAT) if name in remaining}
    for name in own:
        if name not in _TAKEN_BY[kind]:
            users = " or ".join(user for user, names in _TAKEN_BY.items() if name in names)
            raise ConfigError(
                f"Option {name} says nothing to a query of type {kind}",
                found=own[name],
                fix=f"remove it, or set {_TYPE[0]}={users}",
            )
    if kind != "incremental":
        return ReadRequest(Snapshot(own.get(_AS_OF), read_optimized=kind == "read_optimized"), remaining)
    format = own.get(_FORMAT, "latest_state").strip().lower()
    if format not in ("latest_state", "cdc"):
        raise ConfigError(
            f"Option {_FORMAT}",
            found=own[_FORMAT],
            fix="set latest_state for rows as they are at the end, or cdc for inserts, updates and deletes",
        )
    begin = own.get(_BEGIN)
    if begin is None:
        raise ConfigError(
            "An incremental query has no begin",
            fix=f"set {_BEGIN} to an instant, or to earliest for all commits; for a stream leave {_TYPE[0]} out",
        )
    start = None if begin.strip().lower() == "earliest" else begin
    if format == "cdc":
        return ReadRequest(ChangeQuery(start, own.get(_END), options=remaining), remaining)
    return ReadRequest(Incremental(start, own.get(_END)), remaining)
