"""Seconds from the landing of an event to each layer."""

from __future__ import annotations

import numpy as np

from hudi_services.demo.stream.lag import Hop, lags


def test_an_event_is_in_a_layer_with_the_first_commit_that_has_read_its_commit():
    hop = Hop(read=np.array([10.0, 20.0]), done=np.array([13.0, 22.0]))
    assert hop.arrivals(np.array([5.0, 10.0, 11.0])).tolist() == [13.0, 13.0, 22.0]
    assert np.isnan(hop.arrivals(np.array([21.0]))).all()


def test_lags_grow_from_layer_to_layer_and_leave_out_what_is_not_there():
    hops = [Hop(np.array([10.0, 20.0]), np.array([12.0, 21.0])), Hop(np.array([12.0]), np.array([13.5]))]
    found = lags(np.array([8.0, 15.0]), np.array([10.0, 17.0]), hops)
    assert [times.tolist() for times in found] == [[2.0, 2.0], [4.0, 6.0], [5.5]]
