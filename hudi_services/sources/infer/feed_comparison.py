"""Files of a sample that have other columns than most, or write the names of the same columns in another way. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from hoodie.errors import SourceError

_SHOWN = 3  # files, and columns of each
_SHARE = 0.5  # the part of its columns that the file with fewer has to share with the others of its feed


def strangers(columns: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """The files that share few columns with the largest group of files that agree, and their columns.

    A feed gains and loses columns, so files agree if they share half of the columns of the one that has fewer.
    """
    groups: list[tuple[set[str], list[str]]] = []
    for path, names in columns.items():
        own = {name.lower() for name in names}
        group = next((group for group in groups if _agree(group[0], own)), None)
        if group is None:
            groups.append((own, [path]))
        else:
            group[0].update(own)
            group[1].append(path)
    most = max((paths for _, paths in groups), key=len, default=[])
    return {path: list(columns[path]) for path in columns if path not in most}


def blanks_around(columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The files in which names differ from those of more files by blanks around them, and these names. No entry loads both: they
    would be two columns of one name."""
    forms: dict[str, Counter[str]] = {}
    for names in columns.values():
        for name in names:
            forms.setdefault(name.strip(), Counter()).update([name])
    usual = {bare: max(of_name, key=lambda name: (of_name[name], name == bare)) for bare, of_name in forms.items()}
    result = {}
    for path, names in columns.items():
        twins = Counter(name.strip() for name in names)
        others = [name for name in names if name != usual[name.strip()] and twins[name.strip()] == 1]
        if others:
            known = ", ".join(repr(usual[name.strip()]) for name in others[:_SHOWN])
            shown = ", ".join(map(repr, others[:_SHOWN]))
            result[path] = f"the names {shown} differ by blanks from {known} of other files; deliver one form"
    return result


def lacking(columns: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """The columns that some files of a feed lack, as they are first written, and these files."""
    of_files = {path: {name.strip().lower() for name in names} for path, names in columns.items()}
    first_forms = {
        name.strip().lower(): name.strip() for names in reversed([*columns.values()]) for name in reversed([*names])
    }
    lacked = {form: [path for path, names in of_files.items() if key not in names] for key, form in first_forms.items()}
    return {name: paths for name, paths in reversed([*lacked.items()]) if paths}


def lacks_text(lacked: Mapping[str, Sequence[str]]) -> str:
    """The columns that files lack, for a remark."""
    more = f" … and {len(lacked) - _SHOWN} more" if len(lacked) > _SHOWN else ""
    texts = [
        f"{', '.join(paths[:_SHOWN])}{', …' * (len(paths) > _SHOWN)} has no {name}" for name, paths in lacked.items()
    ]
    return "; ".join(texts[:_SHOWN]) + more


def check_one_feed(pattern: str, columns: Mapping[str, Collection[str]]) -> None:
    """Raises SourceError for a pattern whose files are of several feeds."""
    others = strangers(columns)
    if others:
        first = next(path for path in columns if path not in others)
        raise SourceError(
            f"The files of {pattern!r} do not agree: {len(others)} of {len(columns)} that were looked at have other columns",
            found="; ".join(_text(path, columns[path]) for path in [first, *list(others)[: _SHOWN - 1]]),
            fix="name a pattern of one feed, such as 'landing/orders_*.csv', and run `infer` for each feed",
        )


def others_text(others: Mapping[str, Collection[str]]) -> str:
    """The files with other columns, for a remark."""
    more = f" … and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return "; ".join(_text(path, names) for path, names in list(others.items())[:_SHOWN]) + more


def _text(path: str, names: Collection[str]) -> str:
    shown = list(names)[:_SHOWN]
    return f"{path} has {', '.join(shown)}{', …' if len(names) > _SHOWN else ''}"


def _agree(some: set[str], others: set[str]) -> bool:
    return not some or not others or len(some & others) >= _SHARE * min(len(some), len(others))
