"""An engine whose tasks are in other processes, as far as they can see."""

from __future__ import annotations

from pyspark import cloudpickle

from hoodie.engine import LocalEngine


class OtherProcesses(LocalEngine):
    """Threads that get what they work with by way of pickle, as Spark's workers do."""

    @property
    def in_process(self):
        return False

    def map(self, function, tasks, sizes=()):
        return super().map(cloudpickle.loads(cloudpickle.dumps(function)), tasks, sizes)

    def map_input(self, function, rows):
        return super().map_input(cloudpickle.loads(cloudpickle.dumps(function)), rows)
