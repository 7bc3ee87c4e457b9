"""A feed as the command is told it."""

from __future__ import annotations

import re

from hudi_services.feed.model import Feed

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def feed_flag(feed: Feed) -> list[str]:
    """`--feed` with what differs from the defaults; nothing where nothing does.

    Two braces together would mean a variable to YARN, and something else to Airflow's templates: there are none.
    """
    said = feed.model_dump_json(by_alias=True, exclude_defaults=True)
    if said == "{}":
        return []
    quoted = _STRING.sub(lambda text: text[0].replace("{", "\\u007b").replace("}", "\\u007d"), said)
    return ["--feed", re.sub(r"([{}])(?=[{}])", r"\1 ", quoted)]
