"""Many processes at one table, drawn from seeds: whatever is killed or unheard, no acknowledged row is lost, no other is seen."""

from __future__ import annotations

import os

import pytest

from tests.simulation.scene import Plot, Scene

SEEDS = int(os.environ.get("SEEDS", "40"))
PLOTS = [Plot(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("6", "9")]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: f"{plot.kind}-{plot.version}")
@pytest.mark.parametrize("share", range(10))
def test_nothing_is_lost(plot, share):
    for seed in range(share, SEEDS, 10):
        scene = Scene(seed, plot)
        try:
            scene.play()
        except BaseException as error:
            error.add_note(f"seed {seed} of {plot}\n" + "\n".join(scene.world.trace[-60:]))
            raise


def test_a_seed_is_one_history():
    first, second = (Scene(7, PLOTS[0]) for _ in range(2))
    first.play()
    second.play()
    assert first.world.trace == second.world.trace
