"""The command `cdc cuts`: the places of a server's log at which its tables can be read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hudi_services.cli.commands.cdc_declaration import declaration, pipeline_flag
from hudi_services.cli.flags import CONTEXT, json_flag, registry_flag, verbose_flag, wide_flag, with_examples

if TYPE_CHECKING:
    from hudi_services.sources.cdc.cuts import Cut


def _cuts(server: str, registry: str | None, pipeline: str | None, as_json: bool) -> int:
    from hudi_services.cli.render import print_page
    from hudi_services.operations.inspect.page import Column, Listing, Page
    from hudi_services.registry.database_tables import cut_store

    store = cut_store(server, declaration(server, registry, pipeline).reading)
    rows = [_row(cut) for cut in store.newest_first()]
    columns = (
        Column("cut", "cut", right=True),
        Column("time", "server's time"),
        Column("position", "position"),
        Column("gtid", "GTID", rank=3),
        Column("tables", "tables", right=True),
        Column("behind", "behind", lambda names: f"{len(names):,}", right=True),
    )
    listing = Listing(columns, rows, server, f"no cut: `hudi-services cdc sync {server}` has not run to its end")
    return print_page(Page({"server": server, "cuts": rows}, [listing]), as_json=as_json)


def _row(cut: Cut) -> dict[str, Any]:
    return {
        "cut": cut.number,
        "position": cut.position,
        "gtid": cut.gtid,
        "time": cut.time,
        "tables": len(cut.tables),
        "behind": sorted(cut.behind),
    }


cuts = click.Command(
    "cuts",
    callback=_cuts,
    params=[click.Argument(["server"]), registry_flag(), pipeline_flag(), json_flag(), wide_flag(), verbose_flag()],
    help="List the cuts of a server that are kept, the newest first. At a cut all its tables have all changes up to one place of "
    "the server's log. It asks the lake only, not the server.",
    epilog=with_examples(("hudi-services cdc cuts shop --registry tables.yaml",)),
    context_settings=CONTEXT,
)
