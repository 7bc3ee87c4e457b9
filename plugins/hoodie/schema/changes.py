"""Changes of a table's columns (`ALTER TABLE` of Hudi's Spark SQL). Names are dotted: `a.b` is the field `b` of the struct
`a`, `a.element.b` one of the elements of an array, `a.value.b` one of the values of a map."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Place:
    """Place of a column among those beside it: after the one that is named `after`; None: before all others."""

    after: str | None = None


FIRST = Place()


@dataclass(frozen=True)
class AddColumn:
    """A new column, null in all rows that there are. Without a `place` it is the last."""

    name: str
    type: pa.DataType
    comment: str | None = None
    place: Place | None = None
    nullable: bool = True  # False is refused: the rows that there are have no value


@dataclass(frozen=True)
class DropColumn:
    """A column that is read no more. Its name may be given to a new one, which has none of its values."""

    name: str


@dataclass(frozen=True)
class RenameColumn:
    """Another name for a column; `to` is its last part alone."""

    name: str
    to: str


@dataclass(frozen=True)
class MoveColumn:
    """Another place for a column, among those beside it."""

    name: str
    place: Place


@dataclass(frozen=True)
class WidenColumn:
    """A type that holds all values that the column can have."""

    name: str
    type: pa.DataType


@dataclass(frozen=True)
class AllowNull:
    """A required column may be null from now on."""

    name: str


@dataclass(frozen=True)
class CommentColumn:
    """Comment of a column."""

    name: str
    comment: str


SchemaChange = AddColumn | DropColumn | RenameColumn | MoveColumn | WidenColumn | AllowNull | CommentColumn
