"""A feed as the argument of a command."""

from __future__ import annotations

import re

from hudi_services.entry.feed.model import Feed

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def feed_flag(feed: Feed) -> list[str]:
    """The flag `--feed` with all values that differ from the defaults; empty if all are defaults."""
    feed_json = feed.model_dump_json(by_alias=True, exclude_defaults=True)
    return [] if feed_json == "{}" else ["--feed", json_flag(feed_json)]


def json_flag(json_text: str) -> str:
    """JSON as the value of a flag.

    Two braces together would mean a variable to YARN, and something else to Airflow's templates: there are none.
    """
    quoted = _STRING.sub(lambda text: text[0].replace("{", "\\u007b").replace("}", "\\u007d"), json_text)
    return re.sub(r"([{}])(?=[{}])", r"\1 ", quoted)
