"""Looking at a table: its properties, timeline, commits and files."""

from __future__ import annotations

import click

from hoodie.table import HoodieTable


@click.command()
@click.argument("what", type=click.Choice(["table", "timeline", "commits", "files"]))
@click.option("--target-base-path", required=True, help="Path or URL of the table.")
def show(what: str, target_base_path: str) -> None:
    """Print what a table holds: `table`, `timeline`, `commits` or `files`."""
    table = HoodieTable.open(target_base_path)
    state = table.state()
    if what == "table":
        for key, value in sorted(state.properties.raw.items()):
            click.echo(f"{key}={value}")
        for instant in state.timeline.commits:
            state.commit_metadata(instant)  # a torn one is an error, not a table that looks sound
    elif what == "timeline":
        for instant in state.timeline:
            click.echo(f"{instant.time}  {instant.action:<14} {instant.state.name:<10} {instant.completion_time or ''}")
    elif what == "commits":
        for instant in state.timeline.commits:
            metadata = state.commit_metadata(instant)
            inserts, updates, deletes = (
                sum(getattr(stat, name) for stat in metadata.stats)
                for name in ("num_inserts", "num_updates", "num_deletes")
            )
            click.echo(
                f"{instant.time}  {metadata.operation:<12} {len(metadata.stats):>5} files {metadata.bytes_written:>14,} bytes"
                f"  +{inserts} ~{updates} -{deletes} rows"
            )
    else:
        for file_slice in table.file_slices():
            for file in file_slice.files:
                click.echo(f"{file.info.size:>14,} bytes  {file.path}")
