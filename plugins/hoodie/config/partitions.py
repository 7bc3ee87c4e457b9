"""Paths of partitions that a person, an option, a form or a request names: one spelling each, as commits name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hoodie.errors import ArgumentError, ConfigError

_FIX = "give a path as `hudi-services show partitions` lists it, such as day=2026-01-01"


def partition_path(text: str) -> str:
    """The partition as commits name it: `day=1` for `./day=1//`. One slash before it is dropped, as Hudi does.

    A folder has many spellings. A commit that names a file group under a second one would neither replace nor find it. Raises
    ArgumentError for a path that leads out of the table, into its metadata, or to no folder. `""` is the only partition of a
    table without partitions.
    """
    names = [name for name in text.removeprefix("/").split("/") if name not in ("", ".")]
    outside = text.startswith("//") or ".." in names or "\0" in text
    if outside or names[:1] == [".hoodie"] or (text and not names):
        raise ArgumentError(
            f"{text!r:.100} is not a partition",
            found="it leads out of the table" if outside else "it names no folder of rows",
            fix=_FIX,
        )
    return "/".join(names)


def partition_names(value: str) -> tuple[str, ...]:
    """Paths of partitions between commas, as they are: a space belongs to the name."""
    names = tuple(value.split(","))
    if not all(names):
        raise ValueError("paths of partitions between commas, none of them empty")
    return tuple(map(_option, names))


def check_uncut(names: Sequence[str], partitions: Iterable[str]) -> None:
    """Raises ConfigError for names that may be the parts of one name with a comma, which a list between commas cuts.

    `city=Berlin, Germany` would name `city=Berlin`, which may be another partition.
    """
    stripped = [name.strip() for name in names]
    for partition in partitions:
        parts = [part.strip() for part in partition.split(",")]
        if len(parts) > 1 and any(stripped[i : i + len(parts)] == parts for i in range(len(stripped))):
            raise ConfigError(
                f"{', '.join(map(repr, parts))} may be several partitions, or one whose name has a comma",
                found=f"there is a partition {partition!r}",
                fix=f"to drop that one, use HoodieTable.delete_partitions([{partition!r}]) or TRUNCATE TABLE … PARTITION (…); "
                "to choose the others, name one at a time",
            )


def partition_bound(value: str) -> str:
    """The first or last partition of a range."""
    return _option(value.strip())


def _option(text: str) -> str:
    try:
        return partition_path(text)
    except ArgumentError:
        raise ValueError("paths of partitions as `hudi-services show partitions` lists them") from None
