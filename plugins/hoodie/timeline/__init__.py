"""The timeline: what happened to a table, and when."""

from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant, State, format_time, parse_time
from hoodie.timeline.layouts import Layout, LayoutV1, LayoutV2, layout_of
from hoodie.timeline.layouts.names import parse_name
from hoodie.timeline.timeline import Timeline, load_timeline

__all__ = [
    "WRITE_ACTIONS",
    "Action",
    "Instant",
    "Layout",
    "LayoutV1",
    "LayoutV2",
    "State",
    "Timeline",
    "format_time",
    "layout_of",
    "load_timeline",
    "parse_name",
    "parse_time",
]
