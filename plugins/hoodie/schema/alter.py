"""A table's schema with ids after changes to its columns, as Hudi's `TableChanges` makes it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hoodie.errors import ArgumentError, SchemaConflictError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.schema.changes import (
    AddColumn,
    AllowNull,
    CommentColumn,
    DropColumn,
    MoveColumn,
    Place,
    RenameColumn,
    SchemaChange,
    WidenColumn,
)
from hoodie.schema.internal import ARRAY, MAP, RECORD, Column, InternalSchema
from hoodie.schema.normalise import column_type, fits_avro
from hoodie.schema.widening import arrow_kind, widens

_RESERVED = "_hoodie_"


def altered(schema: InternalSchema, changes: Sequence[SchemaChange], fixed: Mapping[str, str]) -> InternalSchema:
    """The schema after the changes, one after the other. Columns keep their ids, new ones get such as none ever had.

    Names are found as Spark finds them, in any case. `fixed` are the fields by which the table finds, places and orders its rows
    (dotted name -> what it is): they keep name and type, but for whole numbers that become longer. Raises SchemaConflictError,
    ArgumentError.
    """
    if not changes:
        raise ArgumentError("There is no change to the columns", found="an empty list", fix="name one")
    altering = _Altering(schema, fixed)
    for change in changes:
        do = _STEPS.get(type(change))
        if do is None:
            raise ArgumentError(
                "A change to the columns is of a type that there is not",
                found=f"{change!r:.100}",
                fix=f"give one of {', '.join(kind.__name__ for kind in _STEPS)}",
            )
        do(altering, change)
    return altering.schema


@dataclass
class _Altering:
    schema: InternalSchema
    fixed: Mapping[str, str]

    def add(self, change: AddColumn) -> None:
        parent, _, name = change.name.rpartition(".")
        if not change.nullable:
            raise SchemaConflictError(
                f"Column {change.name!r} cannot be added as NOT NULL",
                found="rows that were written before have no value for it",
                fix="leave NOT NULL out",
            )
        self._check_name(change.name, name)
        kind = column_type(change.type, change.name)

        def added(columns: tuple[Column, ...]) -> tuple[Column, ...]:
            _check_free(columns, name, change.name)
            column, last = self.schema.numbered(name, kind, change.comment)
            self.schema = replace(self.schema, max_id=last)
            return (*columns, column) if change.place is None else _placed(columns, column, change.place, change.name)

        self._beside(parent, added)

    def drop(self, change: DropColumn) -> None:
        self._change(change.name, lambda _: None, "drop")

    def rename(self, change: RenameColumn) -> None:
        if "." in change.to:
            raise SchemaConflictError(
                f"Column {change.name!r} cannot be renamed to {change.to!r}",
                found="a name with a dot: a column stays inside the one that it is in",
                fix="give the last part of the new name alone",
            )
        parent, _, _ = change.name.rpartition(".")
        self._check_name(f"{parent}.{change.to}".lstrip("."), change.to)
        self._change(change.name, lambda column: replace(column, name=change.to), "rename")

    def move(self, change: MoveColumn) -> None:
        path = self._path(change.name)
        parent, _, name = path.rpartition(".")

        def moved(columns: tuple[Column, ...]) -> tuple[Column, ...]:
            column = next(other for other in columns if other.name == name)
            others = tuple(other for other in columns if other is not column)
            return _placed(others, column, change.place, path)

        self._beside(parent, moved)

    def widen(self, change: WidenColumn) -> None:
        path, kind = self._path(change.name), column_type(change.type, change.name)
        named = self.schema.numbered(path.rpartition(".")[2], kind, None)[0]
        for name, role in self.fixed.items():
            if name == path and not (named.kind == "long" and self._at(path).kind in ("int", "long")):
                raise SchemaConflictError(
                    f"Column {path!r} cannot change its type to {kind}",
                    found=f"it is {role}: rows would not be found, or ordered, as before",
                    fix="add another column",
                )

        def widened(column: Column) -> Column:
            if column.kind == named.kind and not column.parts:
                return column
            if not widens(column.kind, named.kind):
                raise SchemaConflictError(
                    f"Column {path!r} cannot change its type to {kind}",
                    found=f"{arrow_kind(column)}, whose values do not all fit",
                    fix="choose a wider type, or add another column",
                )
            return replace(column, kind=named.kind)

        self._change(path, widened)

    def allow_null(self, change: AllowNull) -> None:
        self._check_part(self._path(change.name), "key")
        self._change(change.name, lambda column: replace(column, optional=True))

    def comment(self, change: CommentColumn) -> None:
        self._check_part(self._path(change.name), "key", "value", "element")
        self._change(change.name, lambda column: replace(column, doc=change.comment))

    def _change(self, name: str, how: Callable[[Column], Column | None], verb: str | None = None) -> None:
        """Put another column in the place of one, or none. `verb` names the change that a fixed one refuses."""
        path = self._path(name)
        if verb is not None:
            self._check_movable(path, verb)
        parent, _, last = path.rpartition(".")

        def changed(columns: tuple[Column, ...]) -> tuple[Column, ...]:
            result: list[Column] = []
            for column in columns:
                new = how(column) if column.name == last else column
                if new is not None and new.name != column.name:
                    _check_free([other for other in columns if other is not column], new.name, path)
                if new is not None:
                    result.append(new)
            if all(column.name in META_COLUMNS for column in result):
                container = f"struct {parent!r}" if parent else "table"
                raise SchemaConflictError(
                    f"Column {path!r} is the last of its {container}",
                    fix="drop the struct itself" if parent else "keep it: a table has a column",
                )
            return tuple(result)

        self._beside(parent, changed, of_leaf=last)

    def _check_movable(self, path: str, verb: str) -> None:
        column = self._at(path)
        holder = self._at(path.rpartition(".")[0]) if "." in path else None
        if holder is not None and holder.kind != RECORD:
            raise SchemaConflictError(
                f"Cannot {verb} {path!r}: it is the {column.name} of {holder.kind} {holder.name!r}",
                fix=f"{verb} {path.rpartition('.')[0]}",
            )
        for name, role in self.fixed.items():
            if name == path or name.startswith(f"{path}."):
                raise SchemaConflictError(
                    f"Cannot {verb} column {path!r}",
                    found=f"{name} is {role} of the table",
                    fix="write the rows to a new table, with other keys",
                )

    def _check_part(self, path: str, *lacking: str) -> None:
        """Refuse properties that the parts of arrays and maps cannot have in a schema."""
        parent, _, last = path.rpartition(".")
        if parent and self._at(parent).kind != RECORD and last in lacking:
            raise SchemaConflictError(
                f"{path!r} is the {last} of {self._at(parent).kind} {parent!r}: it has no comment, and a key is never null",
                fix=f"change {parent}",
            )

    def _check_name(self, path: str, name: str) -> None:
        if name.lower().startswith(_RESERVED) and "." not in path:
            raise SchemaConflictError(
                f"Column {path!r} would have a name that Hudi reserves", fix="choose another name"
            )
        if not fits_avro(name):
            raise SchemaConflictError(
                f"Column {path!r} would have a name that Avro cannot hold",
                fix="use letters (of any script), digits and underscores, no digit first",
            )

    def _path(self, name: str) -> str:
        """The dotted name as the schema writes it. Raises SchemaConflictError for meta columns and unknown ones."""
        columns, names = self.schema.columns, list[str]()
        for part in name.split("."):
            column = _named(columns, part)
            if column is None:
                holder = ".".join(names)
                raise SchemaConflictError(
                    f"There is no column {name!r}" + (f" in {holder!r}" if holder else ""),
                    found=", ".join(column.name for column in columns if column.name not in META_COLUMNS)
                    or "no columns",
                    fix="correct the name",
                )
            names.append(column.name)
            columns = column.parts
        if names[0] in META_COLUMNS:
            raise SchemaConflictError(f"Column {names[0]!r} is Hudi's own", fix="leave it as it is")
        return ".".join(names)

    def _at(self, path: str) -> Column:
        columns, column = self.schema.columns, None
        for part in path.split("."):
            column = next(other for other in columns if other.name == part)
            columns = column.parts
        assert column is not None
        return column

    def _beside(
        self,
        parent: str,
        how: Callable[[tuple[Column, ...]], tuple[Column, ...]],
        *,
        of_leaf: str | None = None,
    ) -> None:
        """Change the columns below `parent`, a struct; ``: those of the table. With `of_leaf` also parts of arrays and maps."""
        path = self._path(parent) if parent else ""
        if path and self._at(path).kind != RECORD and of_leaf is None:
            raise SchemaConflictError(
                f"{path!r} is not a struct",
                found=str(arrow_kind(self._at(path))),
                fix=_inside(self._at(path), path),
            )
        columns = _within(self.schema.columns, path.split(".") if path else [], how)
        self.schema = replace(self.schema, columns=columns)


def _inside(column: Column, path: str) -> str:
    part = {ARRAY: "element", MAP: "value"}.get(column.kind)
    return f"name a field of {path}.{part}, if that is a struct" if part else "name a struct"


def _within(
    columns: tuple[Column, ...], path: Sequence[str], how: Callable[[tuple[Column, ...]], tuple[Column, ...]]
) -> tuple[Column, ...]:
    if not path:
        return how(columns)
    return tuple(
        replace(column, parts=_within(column.parts, path[1:], how)) if column.name == path[0] else column
        for column in columns
    )


def _named(columns: Sequence[Column], name: str) -> Column | None:
    return next((column for column in columns if column.name.lower() == name.lower()), None)


def _check_free(columns: Sequence[Column], name: str, path: str) -> None:
    other = _named(columns, name)
    if other is not None:
        same = "" if other.name == name else ", which differs in case alone"
        raise SchemaConflictError(
            f"Column {path!r} cannot be called {name!r}",
            found=f"column {other.name!r}{same}",
            fix="choose another name",
        )


def _placed(columns: tuple[Column, ...], column: Column, place: Place, path: str) -> tuple[Column, ...]:
    if place.after is None:
        number = sum(column.name in META_COLUMNS for column in columns)
    else:
        other = _named(columns, place.after.rpartition(".")[2])
        if other is None or other.name in META_COLUMNS:
            raise SchemaConflictError(
                f"Column {path!r} cannot come after {place.after!r}",
                found=f"beside it are {', '.join(column.name for column in columns if column.name not in META_COLUMNS)}",
                fix="name one of these",
            )
        number = columns.index(other) + 1
    return (*columns[:number], column, *columns[number:])


_STEPS: Mapping[type, Callable[..., None]] = {
    AddColumn: _Altering.add,
    DropColumn: _Altering.drop,
    RenameColumn: _Altering.rename,
    MoveColumn: _Altering.move,
    WidenColumn: _Altering.widen,
    AllowNull: _Altering.allow_null,
    CommentColumn: _Altering.comment,
}
