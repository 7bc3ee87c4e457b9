"""Limits of the deletes of a run without approval: every plan that deletes data files passes here before it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hoodie.config.key import Options
from hoodie.config.keys import delete as keys
from hoodie.errors import DeleteCapError
from hoodie.services.measures import Measure
from hoodie.services.stage_text import cap_texts

_FEW = 1_000  # files: a share says little about a small table


@dataclass(frozen=True)
class Caps:
    """Data files, their bytes, and the share of the table's bytes that a run may delete without approval.

    Plans of fewer files than `share_from` are not asked for their share.
    """

    files: int
    bytes: int
    share: float
    share_from: int

    @staticmethod
    def of(options: Options) -> Caps:
        """From resolved options, `hoodie.config.keys.delete` among them."""
        few = 0 if options.is_set(keys.MAX_SHARE) else _FEW
        return Caps(options[keys.MAX_FILES], options[keys.MAX_BYTES], options[keys.MAX_SHARE], few)


@dataclass(frozen=True)
class Deletion:
    """The data files that a plan deletes: how many, their bytes, the bytes of all data files of the table; `over` are the caps
    that they are past."""

    files: int
    bytes: int
    of_bytes: int
    over: tuple[Measure, ...]

    @property
    def over_texts(self) -> tuple[str, ...]:
        """A line a cap that they are past."""
        return tuple(cap_texts(self.over, self.of_bytes))

    def check(self, service: str, table: str, digest: str, agreed: str | None, partitions: int = 0) -> None:
        """Check the plan of this digest before it is written; `agreed` is the digest of the plan that a user has approved, if
        any. `partitions` is how many it deletes from.

        Raises DeleteCapError when it is past a cap and another one.
        """
        if not self.over or digest == agreed:
            return
        command = f"hudi-services {service}"
        another = f", and the plan is another one than {agreed}, which was agreed to" if agreed else ""
        raise DeleteCapError(
            f"The {service} of table {table} would delete more than a run may without approval{another}",
            found="; ".join(self.over_texts),
            fix=f"look at the plan with `hudi-services {service} --explain`; if it is meant, run `{command} --yes {digest}`. "
            "Nothing was changed",
            digest=digest,
            deletion={
                "files": self.files,
                "bytes": self.bytes,
                "of_bytes": self.of_bytes,
                "partitions": partitions,
            },
        )


def weighed(files: int, size: int, listed_bytes: int, caps: Caps, table_bytes: Callable[[], int]) -> Deletion:
    """A plan that deletes `files` files of `size` bytes, out of `listed_bytes`.

    `table_bytes` counts the bytes of the whole table. It is called only if the share of the listed bytes is past its cap.
    """
    of_bytes = listed_bytes
    if files >= caps.share_from and _share(size, listed_bytes) > caps.share:
        of_bytes = table_bytes()
    return Deletion(files, size, of_bytes, tuple(_over(files, size, of_bytes, caps)))


def _over(files: int, size: int, of_bytes: int, caps: Caps) -> Iterator[Measure]:
    if files > caps.files:
        yield Measure(files, caps.files, "file", keys.MAX_FILES.name)
    if size > caps.bytes:
        yield Measure(size, caps.bytes, "byte", keys.MAX_BYTES.name)
    if files >= caps.share_from and _share(size, of_bytes) > caps.share:
        yield Measure(_share(size, of_bytes), caps.share, "share", keys.MAX_SHARE.name)


def _share(size: int, of_bytes: int) -> float:
    return size / of_bytes if of_bytes else 0.0
