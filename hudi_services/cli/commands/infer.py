"""The command `infer`: the entry of a registry for a folder of files, to be edited."""

from __future__ import annotations

import json

import click
import yaml

from hoodie.model.place import absolute
from hudi_services.cli.flags import CONTEXT, json_flag, verbose_flag, with_examples
from hudi_services.runtime.terminal import echo


def _infer(paths: tuple[str, ...], file_format: str | None, name: str | None, objectives: bool, as_json: bool) -> None:
    from hudi_services.sources.infer.entry import entry_text  # they load Arrow
    from hudi_services.sources.infer.profile import look_at
    from hudi_services.sources.infer.sections import sections_text

    if len(paths) > 1:
        raise click.UsageError(
            f"`infer` takes one folder or one pattern, and was given {len(paths)} paths. Your shell replaces a pattern by the "
            "files that match; put it in quotes, as in infer '/data/landing/orders_*.csv'."
        )
    finding = look_at(absolute(paths[0]), file_format, name)  # Airflow reads the entry in another working directory
    text = entry_text(finding) + (sections_text(finding.folder, finding.modified_ms) if objectives else "")
    echo(json.dumps(yaml.safe_load(text), indent=2) if as_json else text, nl=as_json)


infer = click.Command(
    "infer",
    callback=_infer,
    params=[
        click.Argument(["paths"], metavar="PATH", nargs=-1, required=True),
        click.Option(
            ["--format", "file_format"],
            type=click.Choice(["parquet", "csv", "json"]),
            help="The format of the files. [default: that of most files]",
        ),
        click.Option(["--name"], help="The name of the table. [default: that of the folder]"),
        click.Option(
            ["--objectives"],
            is_flag=True,
            help="Also print the sections history, watch, objectives and alerts, for a registry that has none yet.",
        ),
        json_flag("Print the registry as JSON, without remarks."),
        verbose_flag(),
    ],
    help="Print a registry with an entry for a folder of files, or for the files of a pattern, to be edited: how CSV is written, "
    "types, keys, dates in paths. "
    "Looks at the beginnings of at most ten files; lines of which it is not sure have a remark with a question mark.",
    epilog=with_examples(
        (
            "hudi-services infer /data/landing/orders > tables.yaml",
            "hudi-services infer /data/landing/orders --objectives > tables.yaml",
            "hudi-services infer '/data/landing/orders_*.csv' > tables.yaml",
        )
    ),
    context_settings=CONTEXT,
)
