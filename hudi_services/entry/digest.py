"""The digest of a plan, as people pass it."""

from __future__ import annotations

import re
from typing import Any

import click

_DIGEST = re.compile(r"[0-9a-f]{12}")


class PlanDigest(click.ParamType[str]):
    """12 characters, which `--explain` tells. An empty one, of a flag without its value, is none."""

    name = "digest"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value and not _DIGEST.fullmatch(value):
            self.fail(f"{value!r:.100} is no digest of a plan: --explain tells it", param, ctx)
        return str(value)
