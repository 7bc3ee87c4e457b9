"""Planning an upgrade: what the timeline and the properties become, and what holds it back. Nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.key import Options
from hoodie.config.keygen_checks import with_keygen_options
from hoodie.config.keys.table import MERGE_MODE
from hoodie.config.properties.store import PROPERTIES
from hoodie.config.properties.table import TableProperties
from hoodie.display import counted
from hoodie.errors import ConfigError
from hoodie.services.decision import Decision
from hoodie.services.obstacle import Obstacle, remaining
from hoodie.services.stages import Item, Items
from hoodie.services.upgrade.index_definitions import INDEX_DEFINITIONS, definitions_without_version
from hoodie.services.upgrade.marks import MARK, UpgradeMark, read_mark
from hoodie.services.upgrade.obstacles import obstacles
from hoodie.services.upgrade.properties import property_changes, upgraded_properties
from hoodie.services.upgrade.state_file import StateFileChange, in_layout_2, is_clustering_request
from hoodie.services.upgrade_stages import HeldBack, PropertyChanges, UpgradeScope
from hoodie.timeline import Action, Instant, LayoutV1, LayoutV2, layout_of, list_instants
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.view import TableState

TARGETS = (8, 9)


@dataclass(frozen=True)
class UpgradePlan:
    """The upgrade of a table as it is.

    `properties` are those afterwards. `files` are the files of the timeline that are converted into `layout`, which is None if
    the timeline stays as it is. `definitions` says that index definitions get a version. `left` are what an upgrade that was cut
    short after its switch has left of the old timeline: then only these files go. None: nothing was cut short there.
    """

    target: int
    properties: TableProperties
    layout: LayoutV2 | None
    files: tuple[StateFileChange, ...]
    definitions: bool = False
    left: tuple[str, ...] | None = None


def decide_upgrade(
    state: TableState, target: int, despite: Collection[str], options: Options, clock: Clock
) -> Decision[UpgradePlan]:
    """Decide what an upgrade to version `target` does. `despite` are the kinds of obstacles to pass over.

    Raises ConfigError for a version that is no target or older than the table's, and for options that contradict the table;
    UnsupportedTableError for a table that this library does not write; CorruptTableError for a timeline that cannot be read.
    """
    if target not in TARGETS:
        raise ConfigError(f"No table is upgraded to version {target}", fix="give 8 or 9")
    properties, mark = state.properties, read_mark(state.storage)
    if mark is not None and properties.version >= 8:
        return _rest(state, mark)
    if properties.version == target:
        return Decision(None, f"the table has version {target} already")
    if properties.version > target:
        raise ConfigError(
            f"Table {state.storage.base_path} is not downgraded",
            found=f"it has version {properties.version}, and {target} is asked for",
            fix="downgrade it with Hudi, by the procedure downgrade_table",
        )
    given = with_keygen_options(properties, options)
    given.check_writable()
    mode = options.get(MERGE_MODE) if options.is_set(MERGE_MODE) else None
    after = upgraded_properties(given, target, mode)
    after.check_writable()
    layout = _new_layout(state, after)
    sharing = ConcurrencyOptions.of(options)
    hindrances = list(
        obstacles(state, after, layout, clock, sharing, chosen=mode is not None, resumes=mark is not None)
    )
    plan = UpgradePlan(
        target,
        after,
        layout,
        tuple(_files(state, layout)) if layout is not None else (),
        target >= 9 and definitions_without_version(state.storage),
    )
    return _decision(state, plan, hindrances, despite, resumes=mark is not None)


def held(decision: Decision[UpgradePlan]) -> Sequence[Obstacle]:
    """The obstacles of a decision that are not passed over."""
    stage = decision.stage(HeldBack)
    return remaining(stage.obstacles, stage.passed_over) if stage is not None else ()


def _new_layout(state: TableState, after: TableProperties) -> LayoutV2 | None:
    if not isinstance(state.layout, LayoutV1):
        return None
    layout = layout_of(after)
    assert isinstance(layout, LayoutV2), "the target has another layout"
    return layout


def _files(state: TableState, layout: LayoutV2) -> Iterator[StateFileChange]:
    """Every file of the timeline, pending states of complete instants among them."""
    instants = sorted(
        list_instants(state.storage, state.layout), key=lambda instant: (instant.time, instant.state, instant.action)
    )
    for instant in instants:
        clustering = instant.action is Action.REPLACE_COMMIT and not instant.is_completed
        yield in_layout_2(layout, instant, is_clustering=clustering and _is_clustering(state, instant))


def _is_clustering(state: TableState, instant: Instant) -> bool:
    path = state.layout.requested_path(instant.time, instant.action)
    try:
        body = state.storage.read(path)
    except FileNotFoundError:
        return False
    return is_clustering_request(body, f"{state.storage.base_path}/{path}")


def _decision(
    state: TableState, plan: UpgradePlan, hindrances: Sequence[Obstacle], despite: Collection[str], *, resumes: bool
) -> Decision[UpgradePlan]:
    properties = state.properties
    archived = len(state.archive.instants()) if plan.layout is not None else 0
    scope = UpgradeScope(
        properties.version, plan.target, len(plan.files), archived, properties.has_metadata_table, resumes
    )
    stages = (
        scope,
        HeldBack(tuple(hindrances), tuple(sorted({obstacle.kind for obstacle in hindrances}.intersection(despite)))),
        PropertyChanges(property_changes(properties, plan.properties)),
        _items(state, plan),
    )
    left = remaining(hindrances, despite)
    versions = f"version {properties.version}, to be upgraded to {plan.target}"
    if left:
        return Decision(None, f"{versions}; {counted(len(left), 'obstacle')}", stages)
    return Decision(plan, versions, stages)


def _items(state: TableState, plan: UpgradePlan) -> Items:
    changes = [f"{change.key}={change.after or ''}" for change in property_changes(state.properties, plan.properties)]
    items = [Item(PROPERTIES, 0, "is replaced", parts=changes)]
    if plan.definitions:
        items.append(Item(INDEX_DEFINITIONS, 0, "gets the version of each index"))
    for file in plan.files:
        assert plan.layout is not None, "files have a new layout"
        path = f"{plan.layout.folder}/{file.name}"
        items.append(Item(state.layout.path(file.instant), file.instant.stamp[0], f"becomes {path}", parts=(path,)))
    return Items("convert", items, sum(item.bytes for item in items), how=f"to version {plan.target}")


def _rest(state: TableState, mark: UpgradeMark) -> Decision[UpgradePlan]:
    """The end of an upgrade that was cut short after its switch: the old timeline goes."""
    named = frozenset(mark.files)
    old = sorted(
        (file for file in state.storage.list(".hoodie").files if file.name in named), key=lambda file: file.name
    )
    items = [Item(file.path, file.size, "is of the old timeline") for file in old]
    items.append(Item(MARK, 0, "says that an upgrade has begun"))
    plan = UpgradePlan(mark.target, state.properties, None, (), left=tuple(file.path for file in old))
    scope = UpgradeScope(mark.version, mark.target, len(old), 0, state.properties.has_metadata_table, resumes=True)
    size = sum(item.bytes for item in items)
    return Decision(plan, "an upgrade was cut short after its switch", (scope, Items("delete", items, size)))
