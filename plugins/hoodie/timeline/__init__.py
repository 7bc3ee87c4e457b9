"""The timeline: what happened to a table, and when."""

from hoodie.timeline.gaps import Gaps
from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant, State, format_time, parse_time
from hoodie.timeline.layouts import Layout, LayoutV1, LayoutV2, layout_of
from hoodie.timeline.layouts.names import parse_name
from hoodie.timeline.timeline import Timeline, list_instants, load_timeline

__all__ = [
    "WRITE_ACTIONS",
    "Action",
    "Gaps",
    "Instant",
    "Layout",
    "LayoutV1",
    "LayoutV2",
    "State",
    "Timeline",
    "format_time",
    "layout_of",
    "list_instants",
    "load_timeline",
    "parse_name",
    "parse_time",
]
