"""Names of columns that a table may have, from those of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from hoodie.schema.normalise import fits_avro


def usable_names(names: Iterable[str]) -> dict[str, str]:
    """Other names for columns that a table cannot have so: what Avro does not take, twins that differ in case, Hudi's own."""
    used_names: set[str] = set()
    renamed = {}
    for name in dict.fromkeys(names):
        clean = usable_name(name)
        new = clean
        for number in count(2):
            if new.lower() not in used_names:
                break
            new = f"{clean}_{number}"
        used_names.add(new.lower())
        if new != name:
            renamed[name] = new
    return renamed


def twins(names: Iterable[str]) -> Iterator[str]:
    """A text for each name that is there twice, perhaps in other letters."""
    first: dict[str, str] = {}
    for name in names:
        other = first.get(name.lower())
        if other is None:
            first[name.lower()] = name
        else:
            yield f"{name} is there twice" if name == other else f"{other} and {name} differ in case alone"


def usable_name(name: str) -> str:
    """The name itself, or one like it that Avro takes and Hudi does not use."""
    signs = (sign if fits_avro(f"_{sign}") else " " for sign in name)
    clean = name if fits_avro(name) else "_".join("".join(signs).split()).strip("_")
    clean = clean.lstrip("_") if clean.lower().startswith("_hoodie_") else clean
    return clean if fits_avro(clean) else f"column_{clean}".rstrip("_")
