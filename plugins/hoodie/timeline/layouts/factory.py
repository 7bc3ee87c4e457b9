"""Layout of a table."""

from __future__ import annotations

from hoodie.config.properties.table import TableProperties
from hoodie.timeline.layouts.base import Layout
from hoodie.timeline.layouts.v1 import LayoutV1
from hoodie.timeline.layouts.v2 import LayoutV2


def layout_of(properties: TableProperties) -> Layout:
    """The timeline layout of a table version: chosen here and nowhere else."""
    if properties.version == 6:
        return LayoutV1(properties.timezone, properties.archive_folder)
    upgraded = properties.was_upgraded
    return LayoutV2(properties.timezone, properties.timeline_folder, properties.history_folder, was_upgraded=upgraded)
