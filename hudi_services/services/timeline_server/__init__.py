"""A server of timelines, file slices and markers: in the driver of a write, or by itself."""
