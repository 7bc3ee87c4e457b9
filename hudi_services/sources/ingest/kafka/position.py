"""The position of a source that is a topic: which topic of which cluster, and the next offset of each partition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hoodie.errors import CorruptTableError
from hudi_services.sources.positions import Position

KEY = "hudi_services.kafka.position"
"""The key of the extra metadata of commits that keeps it."""
_VERSION = 1


@dataclass(frozen=True)
class Place:
    """How far a partition is taken in: all before the offset `next`.

    `read` is the offset after the last message that was read, and `epoch` its leader epoch: by these the broker finds out whether
    its log is still the one that was read. None where nothing was read, or a broker of an old version gave no epoch.
    """

    next: int
    read: int | None = None
    epoch: int | None = None


@dataclass(frozen=True)
class TopicPosition:
    """`id` is Kafka's identifier of the topic, another one when it is made again.

    `filter` is the table whose messages count. `moved` is when the position was stored. `masks` is the text of those by which
    columns were masked, empty without any.
    """

    cluster: str
    topic: str
    id: str | None
    places: Mapping[int, Place]
    filter: str | None = None
    moved: datetime | None = None
    masks: str = ""

    def encode(self) -> str:
        """Text for the extra metadata of a commit."""
        places = {
            str(partition): [place.next] if place.epoch is None else [place.next, place.read, place.epoch]
            for partition, place in sorted(self.places.items())
        }
        names = {"cluster": self.cluster, "topic": self.topic, "id": self.id, "table": self.filter}
        names["moved"] = self.moved.isoformat(timespec="seconds") if self.moved is not None else None
        names["masks"] = self.masks or None
        stored = {name: value for name, value in names.items() if value is not None}
        return json.dumps({"version": _VERSION, **stored, "partitions": places})

    @staticmethod
    def decode(position: Position) -> TopicPosition:
        """Raises CorruptTableError for what is not a position of a topic."""
        try:
            stored = json.loads(position.text)
            if stored["version"] != _VERSION:
                raise ValueError
            places = {int(partition): _place(values) for partition, values in stored["partitions"].items()}
            cluster, topic = str(stored["cluster"]), str(stored["topic"])
            moved = datetime.fromisoformat(stored["moved"]) if "moved" in stored else None
            return TopicPosition(
                cluster, topic, stored.get("id"), places, stored.get("table"), moved, stored.get("masks", "")
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptTableError(
                f"The position of the topic in {position.where} cannot be read",
                found=f"{position.text!r:.200}",
                fix="pass --start-fresh to load the whole topic again",
            ) from error


def _place(values: list[int]) -> Place:
    if len(values) not in (1, 3) or not all(isinstance(value, int) and value >= 0 for value in values):
        raise ValueError
    return Place(*values)
