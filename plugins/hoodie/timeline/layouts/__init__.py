"""Timeline layouts: the one place of what differs between the timelines of the table versions (format notes, section 2)."""

from hoodie.timeline.layouts.base import Layout
from hoodie.timeline.layouts.factory import layout_of
from hoodie.timeline.layouts.v1 import LayoutV1
from hoodie.timeline.layouts.v2 import LayoutV2

__all__ = ["Layout", "LayoutV1", "LayoutV2", "layout_of"]
