"""Metrics of tasks in their Python workers, added up in the driver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from pyspark import Accumulator, SparkContext

from hoodie.engine.peak import peak_memory, reset_peak


@dataclass(frozen=True)
class TaskUsage:
    """By some tasks: seconds of processors in all, and bytes of the worker that held the most at once, 0 where none could say."""

    cpu: float = 0.0
    memory: int = 0


class _Sum:
    """A Spark `AccumulatorParam`."""

    def zero(self, _value: TaskUsage) -> TaskUsage:
        return TaskUsage()

    def addInPlace(self, value1: TaskUsage, value2: TaskUsage) -> TaskUsage:  # noqa: N802 - Spark's name
        return TaskUsage(value1.cpu + value2.cpu, max(value1.memory, value2.memory))


Meter: TypeAlias = Accumulator[TaskUsage]


def new_meter(context: SparkContext) -> Meter:
    """A meter for the tasks that get it."""
    return context.accumulator(TaskUsage(), _Sum())


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Add the seconds of the block in this worker."""
    start = time.process_time()
    reset_peak()
    try:
        yield
    finally:
        meter.add(TaskUsage(time.process_time() - start, peak_memory() or 0))
