"""The SQL of a feed: one SELECT that makes of each row another, or leaves it out.

It runs on pieces of the rows, in the order in which they come, in any number of tasks, and again when a task is tried again. So
only what looks at one row at a time, and always gives the same, has a meaning. DuckDB's own parser says what a statement is made
of; what is not known to be harmless is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from hudi_services.sources.ingest.shape.duck import opened
from hudi_services.sources.ingest.shape.grammar import Grammar, Node, name_of, named_columns, named_functions, unusable
from hudi_services.sources.ingest.shape.row_functions import problems


@dataclass(frozen=True)
class Statement:
    """`text` as it was declared. `keep` decides for each row whether it stays (None: all do), `rows` makes the columns of
    those.

    Both give a row for each row, in their order, so each result can be traced to its row. `carried` are columns of the result
    that are columns of the rows as they came, by their names there; with `star` so are all others that are not in `made`.
    `names` are all columns that it names, `inputs` those that each computed column is made of, `functions` those that it
    calls. All names but those of the result are in small letters, as SQL ignores case.
    """

    text: str
    rows: str
    keep: str | None
    carried: Mapping[str, str]
    made: frozenset[str]
    star: bool
    names: frozenset[str]
    inputs: Mapping[str, frozenset[str]]
    functions: frozenset[str]

    def source_of(self, name: str) -> str | None:
        """The column of the incoming rows that is unchanged in the result as `name`; None when there is none."""
        lower = name.lower()
        if lower in self.carried:
            return self.carried[lower]
        return name if self.star and lower not in self.made else None


@lru_cache(maxsize=256)
def parsed(text: str) -> Statement:
    """The statement of this text. Raises ConfigError for what is no SELECT over `batch`, or does not look at rows one by one."""
    with opened() as duck:
        return _parsed(Grammar(duck), text)


def _parsed(grammar: Grammar, text: str) -> Statement:
    tree = grammar.tree(text)
    for problem in problems(grammar, tree):
        raise unusable(problem)
    select, where = tree["select_list"], tree["where_clause"]
    columns = [item for item in select if item["class"] != "STAR"]
    stars = [item for item in select if item["class"] == "STAR"]
    aliases = frozenset(name_of(item).lower() for item in columns)
    names = frozenset(named_columns(tree))
    keep = None
    if where is not None:
        # WHERE may use the names that the SELECT gives. DuckDB computes only those that it needs.
        mark = next(name for name in (f"{'_' * n}keep" for n in count(1)) if name not in aliases | names)
        inner = {**tree, "where_clause": None, "select_list": [*columns, {**where, "alias": mark}]}
        keep = f'SELECT CAST("{mark}" AS BOOLEAN) FROM ({grammar.text(inner)})'
    return Statement(
        text.strip().removesuffix(";").strip(),
        grammar.text({**tree, "where_clause": None}),
        keep,
        {
            name_of(item).lower(): item["column_names"][0]
            for item in columns
            if item["class"] == "COLUMN_REF" and len(item["column_names"]) == 1
        },
        aliases.union(*map(_left_out, stars)),
        bool(stars),
        names,
        {name: frozenset(named_columns(made)) for name, made in _computed(columns, stars)},
        frozenset(named_functions(tree)),
    )


def _computed(columns: Sequence[Node], stars: Sequence[Node]) -> Iterator[tuple[str, Node]]:
    """The columns that the statement makes, with their expressions."""
    yield from ((name_of(item).lower(), item) for item in columns)
    for star in stars:
        yield from ((item["key"].lower(), item["value"]) for item in star["replace_list"])


def _left_out(star: Node) -> set[str]:
    """The columns that a `*` does not give as they are."""
    named = [*star["exclude_list"], *(item["column"] for item in star["qualified_exclude_list"])]
    named += [item["key"] for item in star["replace_list"]]
    return {name.lower() for name in named}
