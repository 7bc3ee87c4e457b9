"""Writes docs/reference/procedures.md from the declared procedures: `make cli-docs`."""

from __future__ import annotations

from pathlib import Path

from hoodie.sql.procedures.catalogue import ABSENT, PROCEDURES
from hoodie.sql.procedures.procedure import Parameter, Procedure
from hoodie.sql.types import sql_type

PAGE = Path(__file__).parent / "reference" / "procedures.md"

HEAD = """# Procedures of SQL

`CALL` runs services and looks at tables, by the names of Apache Hudi 1.2.0, with its parameters and columns:

```sql
CALL show_commits(table => 'orders', limit => 3);
CALL run_clean('orders', retain_commits => 10);
CALL show_timeline(table => 'orders', filter => "action = 'clean'");
CALL help(cmd => 'run_compaction');
```

Values are literals, by name or by place. A table is named as in other statements, or by its `path` where there is that parameter.
Services take the options of the table, those that were `SET`, and `options => 'key=value,key=value'`. A `filter` is a condition
on the columns of the result, and comes before the `limit`. How much a run may delete is [limited](../how-to/deletes.md).
"""


def _parameter(parameter: Parameter) -> str:
    default = "" if parameter.required or parameter.default in (None, "") else f" = {str(parameter.default).lower()}"
    return f"{'**' if parameter.required else ''}`{parameter.name}`{'**' if parameter.required else ''}{default}"


def _section(procedure: Procedure) -> str:
    taken = ", ".join(map(_parameter, procedure.parameters))
    given = ", ".join(f"`{field.name}` {sql_type(field.type).lower()}" for field in procedure.result)
    differs = f"\n\nNot as in Hudi: {procedure.differs}." if procedure.differs else ""
    return f"### {procedure.name}\n\n{procedure.does}\n\nTakes {taken}.\n\nGives {given}.{differs}\n"


def page() -> str:
    """The whole page."""
    absent = [f"| `{name}` | {why} |" for name, why in sorted(ABSENT.items())]
    return "\n".join(
        [
            HEAD,
            "## What there is\n\nRequired parameters are bold.\n",
            *map(_section, PROCEDURES.values()),
            "## What there is not\n",
            "| procedure of Hudi | why |",
            "|---|---|",
            *absent,
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page())
