"""A process that stops for a while at one of its files."""

from __future__ import annotations

from hoodie.storage import LocalStorage


class Stopped(LocalStorage):
    """The process stops before, or after, it has made the file that ends in `at`; in the meantime `other` works."""

    at, other, after = "", None, True

    def create(self, path, data):
        if self.at and path.endswith(self.at):
            self.at = ""
            if self.after:
                super().create(path, data)
                self.other()
                return
            self.other()
        super().create(path, data)
