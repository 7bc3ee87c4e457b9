"""Writes at random of several writers, and what they must make of a table."""

from __future__ import annotations

from hoodie.timeline import WRITE_ACTIONS

KEYS, PARTITIONS = "abcdefgh", "pq"
WRITER = "writer"  # in a commit's extra metadata: which step of which writer it is
BY_COMMIT_TIME = {"hoodie.table.ordering.fields": "", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}


def step(rng, number):
    """A change: its operation, its rows."""
    keys = rng.sample(KEYS, rng.randint(1, 3))
    operation = rng.choice(["upsert", "upsert", "delete"])
    return operation, [(key, PARTITIONS[ord(key) % 2], number, number) for key in keys]


def replay(table, steps):
    """The rows after the acknowledged steps, by the completion of their commits."""
    state, rows = table.state(), {}
    commits = [i for i in all_commits(state) if i.action in WRITE_ACTIONS]
    for instant in sorted(commits, key=lambda i: i.completion_time):
        done = state.commit_metadata(instant).extra.get(WRITER)
        if done is None:
            continue
        operation, entries = steps[done]
        for key, part, ts, value in entries:
            if operation == "delete":
                rows.pop(key, None)
            else:
                rows[key] = (part, ts, value)
    return rows


def committed(table):
    """The steps whose commits are on the timeline, or in its archive."""
    state = table.state()
    return {state.commit_metadata(instant).extra.get(WRITER) for instant in all_commits(state)} - {None}


def all_commits(state):
    """The completed writes, archived ones, too; one that is still on the timeline counts once."""
    found = {i.key: i for i in (*state.archive.instants(), *state.timeline.commits)}
    return [instant for instant in found.values() if instant.action.completed_as in WRITE_ACTIONS]
