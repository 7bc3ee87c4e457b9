"""How far Spark is with a job, by what its scheduler says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread

from py4j.protocol import Py4JError
from pyspark import StatusTracker

from hoodie.engine.progress import Progress, Stage

_SECONDS = 1.0  # between two looks


@contextmanager
def watched(tracker: StatusTracker, progress: Progress, stage: Stage) -> Iterator[None]:
    """While the block runs a job, its tasks are counted now and then; bytes as if all tasks were of one size."""
    ended = Event()
    watcher = Thread(target=_watch, args=(tracker, progress, stage, ended), daemon=True)
    progress(stage)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(tracker: StatusTracker, progress: Progress, stage: Stage, ended: Event) -> None:
    while not ended.wait(_SECONDS):
        try:
            tasks, completed = _count(tracker)
        except (Py4JError, OSError):  # a session that ends: the caller that runs the job gets the error
            return
        if tasks:
            progress(replace(stage, tasks=tasks, tasks_done=completed, bytes_done=stage.bytes * completed // tasks))


def _count(tracker: StatusTracker) -> tuple[int, int]:
    """The tasks of the active jobs, and how many of them are done."""
    tasks = completed = 0
    for job in tracker.getActiveJobsIds():
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            if (stage_info := tracker.getStageInfo(stage)) is not None:
                tasks += stage_info.numTasks
                completed += stage_info.numCompletedTasks
    return tasks, completed
