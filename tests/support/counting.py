"""A storage that remembers what was listed and what was opened."""

from __future__ import annotations

from hoodie.storage import LocalStorage


class CountingStorage(LocalStorage):
    def __init__(self, base_path):
        super().__init__(str(base_path))
        self.listed, self.opened = [], []

    def list(self, folder):
        self.listed.append(folder)
        return super().list(folder)

    def open_input(self, path):
        self.opened.append(path)
        return super().open_input(path)

    def read(self, path):
        self.opened.append(path)
        return super().read(path)

    def data(self):
        """The folders listed and the files opened outside of .hoodie, once each."""
        return [
            sorted({path for path in paths if not path.startswith(".hoodie")}) for paths in (self.listed, self.opened)
        ]
