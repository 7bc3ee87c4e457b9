"""The decision of a service, as text and as JSON. All explanations are decisions, printed here alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Any, Generic, TypeVar

from hoodie.display import Shown, Shows
from hoodie.errors import PlanChangedError
from hoodie.services.blockers import Blocker, with_blockers
from hoodie.services.guard import Caps, Deletion, weighed
from hoodie.services.measures import Measure, Reason, measures_of
from hoodie.services.stage_json import items_fields, measure_fields, stage_fields
from hoodie.services.stage_text import MOST_ITEMS, reason_text, stage_lines, work_text
from hoodie.services.stages import Item, Items, Stage

P = TypeVar("P", covariant=True)
S = TypeVar("S")

_DIGEST = 12  # characters


@dataclass(frozen=True, repr=False)
class Decision(Shows, Generic[P]):
    """Plan of a service, and why it is that; `plan` is None when there is nothing to do.

    `stages` are what was looked at, what would be done and what that leaves, in the order in which people read them. A plan that
    deletes data files is weighed in `deletion`. `blockers` are what keeps the service from going on.
    """

    plan: P | None
    why: Reason
    stages: Sequence[Stage] = ()
    deletion: Deletion | None = None
    blockers: Sequence[Blocker] = ()

    def stage(self, kind: type[S]) -> S | None:
        """The first stage of this kind."""
        return next((stage for stage in self.stages if isinstance(stage, kind)), None)

    def with_stage(self, stage: Stage) -> Decision[P]:
        """The decision with this stage in place of that of the same kind, or else after all."""
        if self.stage(type(stage)) is None:
            return replace(self, stages=(*self.stages, stage))
        return replace(self, stages=tuple(stage if type(old) is type(stage) else old for old in self.stages))

    @property
    def items(self) -> Items | None:
        """The items that the plan touches."""
        return self.stage(Items)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The fields of the stages, for programs."""
        return stage_fields(self.stages)

    @property
    def reason(self) -> str:
        """Why, in one line."""
        return reason_text(self.why)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The values that were compared with a limit, those of caps that the plan is past among them."""
        return (*measures_of(self.why), *(self.deletion.over if self.deletion is not None else ()))

    def allowed(self, service: str, table: str, *, agreed: str | None) -> P | None:
        """The plan, for the run that executes it.

        Raises DeleteCapError when it deletes more than a run may without approval, unless `agreed` is its digest.
        """
        if self.deletion is not None and self.deletion.over:
            self.deletion.check(service, table, self.digest, agreed, self._partitions())
        return self.plan

    def _partitions(self) -> int:
        """The number of partitions that the items are, or are in."""
        by_partition = self.items is not None and self.items.noun == "partition"
        paths = (item.path for item in self.items or ())
        return len({path if by_partition else path.rpartition("/")[0] for path in paths} - {""})

    def only(self, service: str, table: str, digest: str | None) -> None:
        """Check that the plan has the digest that a user asked for; None accepts any plan.

        Raises PlanChangedError.
        """
        if digest is None or (self.plan is not None and self.digest == digest):
            return
        raise PlanChangedError(
            f"The {service} of table {table}: plan {digest} is out of date, the current plan is another",
            found=f"{self.reason}; {self._work()}plan {self.digest}" if self.plan is not None else self.summary,
            fix=f"look at it with `hudi-services {service} --explain`. Nothing of it was done",
        )

    @property
    def digest(self) -> str:
        """Digest of the items, in any order, and of the action on them: 12 characters.

        A user approves this plan by it, and no other.
        """
        return _digest(self._verb, self.marks)

    @property
    def marks(self) -> Iterator[bytes]:
        """Parts of the digest: the hash of each item's path, size and parts."""
        return map(_mark, self.items or ())

    def few_more_than(self, agreed: str, marks: Collection[bytes], caps: Caps) -> bool:
        """Return whether the items beyond those of the plan with the digest `agreed` are no more than a run may delete without
        approval.

        `marks` are what is known of that plan; False when they are of another one, or of one that does other things.
        """
        if self.deletion is None or _digest(self._verb, marks) != agreed:
            return False
        more = [item.bytes for item in self.items or () if _mark(item) not in marks]
        of_bytes = self.deletion.of_bytes
        return not weighed(len(more), sum(more), of_bytes, caps, lambda: of_bytes).over

    @property
    def _verb(self) -> str:
        return " ".join(filter(None, [self.items.verb, self.items.how])) if self.items is not None else ""

    @property
    def summary(self) -> str:
        """The reason, and what holds the service back, in one line."""
        return with_blockers(self.reason, self.blockers)

    def shown(self) -> Shown:
        """The reason, the sum, what was looked at, and the items."""
        line = f"Decision({self.reason}; {self._work()}nothing was changed)"
        facts = [(name.replace("_", " "), value) for name, value in self.facts.items()]
        listed_items = list(islice(self.items or (), MOST_ITEMS))
        rows: list[tuple[object, ...]] = [(item.path, item.bytes, item.reason) for item in listed_items]
        if self.items is not None and len(self.items) > len(rows):
            rows.append((f"… and {len(self.items) - len(rows):,} more", None, None))
        return Shown(line, facts, ("path", "bytes", "why"), rows)

    def as_dict(self, service: str) -> dict[str, Any]:
        """For programs."""
        fields = {"service": service, "reason": self.reason, **self.facts}
        if self.items is not None:
            fields |= items_fields(self.items)
        if self.deletion is not None:
            fields |= {"over_caps": list(self.deletion.over_texts)}
        if self.measures:
            fields |= {"measures": [measure_fields(measure) for measure in self.measures]}
        if self.items is not None and self.plan is not None:
            fields |= {"verb": self.items.verb, "noun": self.items.noun, "digest": self.digest}
        if self.blockers:
            fields["blockers"] = [blocker.as_dict() for blocker in self.blockers]
        return fields

    def as_text(self, service: str) -> str:
        """For a person: the reason, the lines of the stages, what is in the way, then the sum."""
        return "\n".join(
            [
                f"{service}: {self.reason}",
                *(line for stage in self.stages for line in stage_lines(stage)),
                *self._over(),
                *map(str, self.blockers),
                *self._named(),
                f"{self._work()}nothing was changed",
            ]
        )

    def _over(self) -> Iterator[str]:
        if self.deletion is not None and self.deletion.over:
            yield (
                f"past what a run may delete without approval, so it stops unless it is given --yes {self.digest}: "
                f"{'; '.join(self.deletion.over_texts)}"
            )

    def _named(self) -> Iterator[str]:
        if self.items is not None and self.plan is not None:
            yield f"plan {self.digest}"

    def _work(self) -> str:
        work = work_text(self.stages)
        return f"{work}; " if work else ""


def digest_of(explained: Decision[Any] | None) -> str | None:
    """Digest of a decision that a user has approved; None without one."""
    return explained.digest if explained is not None else None


def _mark(item: Item) -> bytes:
    parts = "".join(f"\0{part}" for part in item.parts)
    return sha256(f"{item.path}\0{item.bytes}{parts}".encode()).digest()


def _digest(verb: str, marks: Iterable[bytes]) -> str:
    count = total = 0
    for count, mark in enumerate(marks, 1):  # noqa: B007
        total += int.from_bytes(mark)
    return sha256(f"{verb} {count} {total}".encode()).hexdigest()[:_DIGEST]
