"""The archived timeline: instants that an archiver moved off the active one, in the order of their requested times."""

from hoodie.timeline.archive.base import ArchivedTimeline
from hoodie.timeline.archive.logs import LogArchive
from hoodie.timeline.archive.lsm import LsmArchive

__all__ = ["ArchivedTimeline", "LogArchive", "LsmArchive"]
