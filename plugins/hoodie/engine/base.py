"""The engine protocol: where the work runs. Two real implementations: threads here, Spark in `hoodie.spark`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import pyarrow as pa

T = TypeVar("T")
R = TypeVar("R")

Block = tuple[int, pa.Table]
"""Rows on their way to a bucket."""
InputFn = Callable[[int, Iterator[pa.RecordBatch]], R]
"""Works on one split of an input: (number of the split, its batches) -> result."""
BucketFn = Callable[[int, Iterator[pa.Table]], R]
"""Works on one bucket: (number of the bucket, its rows in no particular order) -> result."""


class Split(Protocol):
    """A piece of an input that a worker reads by itself. Picklable."""

    @property
    def size(self) -> int:
        """About how many bytes it holds: for the number of tasks, not for correctness."""
        ...

    @property
    def files(self) -> int:
        """Number of files of the input that it reads, each counted by one split; 0 if it reads no file."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Its rows, each once."""
        ...

    def narrowed(self, columns: Sequence[str]) -> Split | None:
        """The same rows with only these columns; None when reading them twice would cost too much."""
        ...


class Buckets(Protocol):
    """Rows that were exchanged into numbered buckets and rest there until they are used, any number of times."""

    @property
    def count(self) -> int:
        """How many buckets there are."""
        ...

    def map(self, function: BucketFn[R]) -> list[R]:
        """Run `function` on every bucket; the small results come back in the order of the buckets."""
        ...

    def exchange(self, function: BucketFn[Iterable[Block]], count: int, sizes: Sequence[int] = ()) -> Buckets:
        """Run `function` on every bucket and move what it yields into `count` new buckets.

        `sizes`, about how many bytes the work on each new bucket handles, lets small ones share a task.
        """
        ...


class Exchanged(Buckets, Protocol):
    """Buckets as rows were sent to them."""

    def map_rows(self, function: BucketFn[tuple[R, Callable[[], pa.Table]]]) -> tuple[list[R], Buckets]:
        """Run `function` on every bucket: the small results, and buckets of the same numbers with the rows that it can make.

        An engine with the rows in memory makes them at once, another each time they are used, by calling `function` again.
        """
        ...

    def union(self, other: Exchanged) -> Exchanged:
        """The rows of both, bucket by bucket; both have the same count."""
        ...


class Engine(Protocol):
    """Runs tasks. Functions and tasks are picklable; their results are small."""

    @property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        ...

    @property
    def in_process(self) -> bool:
        """Return whether tasks run in this process, see its memory and its local files."""
        ...

    @property
    def host(self) -> str:
        """The name or address by which its tasks reach this process."""
        ...

    @property
    def tasks_per_process(self) -> int:
        """How many of them share the memory of one process."""
        ...

    @property
    def task_memory(self) -> int:
        """Bytes that one task may take while as many run as run at once, outside of a JVM's heap."""
        ...

    @property
    def write_token(self) -> Callable[[int], str]:
        """Called inside a task with the task's number: `<task>-<stage>-<attempt>`, different for every attempt."""
        ...

    def map(self, function: Callable[[T], R], tasks: Sequence[T], sizes: Sequence[int] = ()) -> list[R]:
        """Run `function` on each task; results in the order of the tasks. `sizes`, about how many bytes each handles, lets small
        ones run one after the other in the engine's own tasks."""
        ...

    def map_input(self, function: InputFn[R], rows: Any) -> list[R]:
        """Run `function` on each split of `rows`: a sequence of Split, or what the engine reads natively (a DataFrame)."""
        ...

    def exchange_inputs(self, inputs: Sequence[tuple[InputFn[Iterable[Block]], Any]], count: int) -> Exchanged:
        """Run the function of each input on each split of its rows, and move what they yield into `count` buckets."""
        ...

    def input_size(self, rows: Any) -> int:
        """About how many bytes `rows` holds; 0 when that is not known."""
        ...
