"""The command `options`: each option of Hudi's, and what becomes of it here."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from hoodie.config.catalogue import Verdict, catalogue
from hoodie.config.groups import GROUPS
from hoodie.config.key import ConfigKey, as_text
from hudi_services.cli.flags import CONTEXT, json_flag, verbose_flag, with_examples
from hudi_services.runtime.terminal import echo


@dataclass(frozen=True)
class OptionLine:
    """One option. `default` is what holds here; `hudi_default` is None for keys that Hudi does not have. `services` take the
    option, or would; `values` ask for what is done here anyway."""

    key: str
    default: str
    hudi_default: str | None
    verdict: str
    reason: str | None
    services: list[str]
    values: list[str]
    aliases: list[str]
    meaning: str


def _options(pattern: str | None, everything: bool, as_json: bool) -> None:
    matching = [line for line in option_lines() if pattern is None or _matches(line, pattern)]
    honoured = [line for line in matching if line.verdict == Verdict.HONOURED]
    lines = matching if everything or (pattern is not None and not honoured) else honoured
    if as_json:
        echo(json.dumps([asdict(line) for line in lines], indent=2))
        return
    for line in lines:
        echo(_words(line))
    if not lines:
        echo(f"no option of Hudi's, nor of this program, has {pattern!r} in its name")
    elif len(lines) < len(matching):
        echo(f"{len(matching) - len(lines)} more are known, without effect here or refused: --all prints them")


options = click.Command(
    "options",
    callback=_options,
    params=[
        click.Argument(["pattern"], required=False),
        click.Option(
            ["--all", "everything"],
            is_flag=True,
            help="Also those without effect here and those that are refused.",
        ),
        json_flag("Print them as JSON."),
        verbose_flag(),
    ],
    help="Print the options: key, default, meaning, and what becomes of each. PATTERN is a part of a key, or a glob such as "
    "'hoodie.clean.*'. A pattern that no honoured option has is looked for among all.",
    epilog=with_examples(("hudi-services options retained", "hudi-services options 'hoodie.clean.*' --json")),
    context_settings=CONTEXT,
)


def option_lines() -> Iterator[OptionLine]:
    """Every option, in alphabetical order: those that this library declares, and the rest of Hudi's."""
    by_key = {entry.key: entry for entry in catalogue().values()}
    lines = {}
    takers: dict[ConfigKey[object], list[str]] = {}
    for group in GROUPS:
        for key in group.keys:
            takers.setdefault(key, []).append(group.name)
    for key, services in takers.items():
        same = [by_key[name] for name in key.names if name in by_key]
        default = same[0].default if same else None
        aliases = dict.fromkeys((*key.aliases, *(alias for entry in same for alias in entry.aliases)))
        lines[key.name] = OptionLine(
            key.name,
            "" if key.default is None else as_text(key.default),
            default,
            Verdict.HONOURED,
            None,
            services,
            [],
            [alias for alias in aliases if alias != key.name],
            key.doc,
        )
    named = {name for line in lines.values() for name in (line.key, *line.aliases)}
    for entry in by_key.values():
        if entry.kind is not None and entry.key not in named:
            lines[entry.key] = OptionLine(
                entry.key,
                "",
                entry.default,
                entry.verdict,
                entry.kind.reason,
                sorted(entry.kind.services),
                sorted(entry.as_here),
                list(entry.aliases),
                entry.meaning,
            )
    return (lines[name] for name in sorted(lines))


def _matches(line: OptionLine, pattern: str) -> bool:
    glob = pattern if any(letter in pattern for letter in "*?[") else f"*{pattern}*"
    return any(fnmatch.fnmatchcase(name.lower(), glob.lower()) for name in (line.key, *line.aliases))


def _words(line: OptionLine) -> str:
    older = f" (also {', '.join(line.aliases)})" if line.aliases else ""
    if line.verdict == Verdict.HONOURED:
        differs = line.hudi_default is not None and line.hudi_default.lower() != line.default.lower()
        hudi = f" [Hudi: {line.hudi_default or 'none'}]" if differs else ""
        return f"{line.key}={line.default}{hudi}\n    {line.meaning}{older}\n    honoured by {', '.join(line.services)}"
    whose = f" by {', '.join(line.services)}" if line.services else ""
    verdict = f"refused{whose}" if line.verdict == Verdict.REFUSED else "without effect"
    values = f"; {' or '.join(line.values)} is fine" if line.values else ""
    return f"{line.key}={line.hudi_default}\n    {line.meaning}{older}\n    {verdict}: {line.reason}{values}"
