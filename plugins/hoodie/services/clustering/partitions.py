"""Partitions that a clustering considers (`hoodie.clustering.plan.*`), as Hudi chooses them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from hoodie.config.key import Options
from hoodie.config.keys import clustering as keys
from hoodie.errors import ConfigError

_HOURS = 24


def chosen_partitions(partitions: Sequence[str], options: Options, now: datetime) -> list[str]:
    """Those of the `partitions` partitions that are looked at, in order; `now` in the table's zone.

    First those that are named, and whose path matches the pattern; of these what the filter mode leaves. Raises ConfigError for
    bounds that the filter mode does not take.
    """
    named, pattern = options.get(keys.PARTITION_SELECTED), options.get(keys.PARTITION_REGEX)
    chosen = sorted(name for name in partitions if named is None or name in named)
    if pattern is not None:
        chosen = [name for name in chosen if re.fullmatch(pattern, name)]
    return _filtered(chosen, options, now)


def _filtered(names: list[str], options: Options, now: datetime) -> list[str]:
    mode = options[keys.PARTITION_FILTER]
    begin, end = options.get(keys.BEGIN_PARTITION), options.get(keys.END_PARTITION)
    if mode != keys.SELECTED_PARTITIONS and (begin, end) != (None, None):
        option = keys.BEGIN_PARTITION if begin is not None else keys.END_PARTITION
        raise ConfigError(
            f"{option.name} has no effect with {keys.PARTITION_FILTER.name}={mode}",
            fix=f"set {keys.PARTITION_FILTER.name}={keys.SELECTED_PARTITIONS}, or leave it out",
        )
    if mode == keys.RECENT_DAYS:
        newest = names[::-1][options[keys.SKIPPED_PARTITIONS] :]
        return sorted(newest[: options[keys.RECENT_PARTITIONS] or None])
    if mode == keys.SELECTED_PARTITIONS:
        return [name for name in names if (begin is None or name >= begin) and (end is None or name <= end)]
    if mode == keys.DAY_ROLLING:
        return [name for number, name in enumerate(names) if number % _HOURS == now.hour]
    return names
