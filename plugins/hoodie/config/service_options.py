"""Options of a service among all options that are given.

Users keep one properties file for all services, and for Hudi's. Each service takes its own options out of it. Hudi's catalogue
knows the others, or they are typing errors. Among those that would matter to the service, options without effect here are logged;
options are refused if ignoring them would give other rows, other files or a false promise.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar, overload

from hoodie.config.catalogue import Entry, Kind, Verdict, catalogue, find
from hoodie.config.groups import GROUPS, OptionGroup
from hoodie.config.key import ConfigKey, Options, as_text
from hoodie.errors import ArgumentError, ConfigError

_log = logging.getLogger(__name__)

V = TypeVar("V")

_DECLARED: Mapping[str, ConfigKey[Any]] = {name: key for group in GROUPS for key in group.keys for name in key.names}


def declared(name: str) -> ConfigKey[Any] | None:
    """The option of this library called `name`."""
    return _DECLARED.get(name)


@overload
def select_keys(options: Options, keys: Iterable[ConfigKey[Any]]) -> Options: ...
@overload
def select_keys(options: Mapping[str, V], keys: Iterable[ConfigKey[Any]]) -> dict[str, V]: ...
def select_keys(options: Mapping[str, V] | Options, keys: Iterable[ConfigKey[Any]]) -> dict[str, V] | Options:
    """The part of options that has these keys, under whichever of their names."""
    if isinstance(options, Options):
        return options.among(keys)
    _check_mapping(options)
    names = {name for key in keys for name in key.names}
    return {name: value for name, value in options.items() if name in names}


def laid_over(options: Mapping[str, V], below: Mapping[str, V]) -> dict[str, V]:
    """`options`, and those of `below` that are not among them under any of their names."""
    all_names = {other for name in options for other in _names(name)}
    return {**{name: value for name, value in below.items() if name not in all_names}, **options}


def _names(name: str) -> tuple[str, ...]:
    key = declared(name)
    return key.names if key is not None else (name,)


def given_options(options: Mapping[str, object] | None) -> Mapping[str, object]:
    """The options of a call that may leave them out."""
    return {} if options is None else options


def _check_mapping(raw_options: object) -> None:
    if not isinstance(raw_options, Mapping) or not all(isinstance(name, str) for name in raw_options):
        raise ArgumentError(
            "Options are not a mapping of names to values",
            found=f"{raw_options!r:.100} ({type(raw_options).__name__})",
            fix="give a dict, such as {'hoodie.table.name': 'trips'}",
        )


def own_options(raw_options: Mapping[str, object], *groups: OptionGroup) -> dict[str, object]:
    """The options that belong to one of `groups`, under the names that they were given; values are not looked at yet.

    Options without effect here are logged, one line a reason. Raises ConfigError for a name that Hudi does not know (with the
    closest one), and for an option that would matter to a service with these groups and is refused.
    """
    _check_mapping(raw_options)
    declared_names = {name for group in groups for key in group.keys for name in key.names}
    own: dict[str, object] = {}
    idle: dict[Kind, list[str]] = {}
    for name, value in raw_options.items():
        if name in declared_names:
            own[name] = value
        elif name not in _DECLARED and (kind := check_option(name, value, *groups)) is not None:
            idle.setdefault(kind, []).append(name)
    for kind, names in idle.items():
        _log.warning("No effect here: %s (%s)", ", ".join(names), kind.reason)
    return own


def check_option(name: str, value: object, *groups: OptionGroup) -> Kind | None:
    """The kind of an option that this library does not declare, that has no effect on services with `groups`, and that is to
    be logged; None for one that says nothing new. Raises ConfigError: see `own_options`."""
    entry = known_entry(name)
    kind = entry.kind
    if (
        kind is None
        or not kind.concerns(frozenset(group.name for group in groups))
        or not entry.asks_for_more(as_text(value))
    ):
        return None
    if kind.verdict is Verdict.REFUSED:
        instead = " or ".join(sorted(entry.as_here))
        raise ConfigError(  # without the value, which may be a secret, where it is not a choice
            f"Option {name}{f'={as_text(value)}' if instead else ''} is refused",
            found=kind.reason,
            fix=f"remove it, or set {instead}" if instead else "remove it",
        )
    return kind


def known_entry(name: str) -> Entry:
    """Hudi's option called `name`. Raises ConfigError for one that neither Hudi nor this library knows."""
    entry = find(name)
    if entry is None:
        closest = _closest(name)
        raise ConfigError(
            f"Option {name!r} is not known here",
            fix=f"did you mean {closest!r}?" if closest else "remove it: it would have no effect",
        )
    return entry


@lru_cache(maxsize=128)
def _closest(name: str) -> str | None:
    """The option with the most similar name. All names take 100 ms, and each DAG file of a registry asks again."""
    return next(iter(difflib.get_close_matches(name, [*_DECLARED, *catalogue()], n=1)), None)
