"""Stages of decisions about upgrades. They are rendered with the others of `hoodie.services.stages`."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.services.obstacle import Obstacle


@dataclass(frozen=True)
class UpgradeScope:
    """The version of a table and that of its upgrade, the files of its timeline, its archived instants, and whether it has a
    metadata table, which is switched off. `resumes`: an earlier run was cut short."""

    version: int
    target: int
    timeline_files: int
    archived_instants: int
    metadata_table: bool
    resumes: bool


@dataclass(frozen=True)
class PropertyChange:
    """A property with its values before and after; None where it is not set."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class PropertyChanges:
    """Changes of `hoodie.properties`."""

    properties: tuple[PropertyChange, ...]


@dataclass(frozen=True)
class HeldBack:
    """Obstacles to an action on the whole table, and the kinds of them that the user passes over."""

    obstacles: tuple[Obstacle, ...]
    passed_over: tuple[str, ...] = ()
