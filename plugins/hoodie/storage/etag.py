"""Object stores that return the version of an object, and replace one on the condition that it still has that version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hoodie.storage.remote import FsspecStorage


class TaggedStorage(FsspecStorage, ABC):
    """A store with conditional replacement: see `ReplacingStorage.replace`. A version has many names; here it is a tag."""

    def replace(self, path: str, old: bytes, new: bytes) -> bool:
        """By one request that the store refuses when the object has changed."""
        target = self._full(path)
        try:
            content, tag = self._read_tagged(target)
        except FileNotFoundError:
            return False
        if content != old:
            return False
        try:
            self._put_tagged(target, new, tag)
        except (FileExistsError, FileNotFoundError):
            return self._has(target, new)  # a client that sends it again because the answer was lost is refused
        self._prove_match(target, new, tag)
        return True

    def _has(self, target: str, content: bytes) -> bool:
        try:
            return self._read_tagged(target)[0] == content
        except FileNotFoundError:
            return False

    @abstractmethod
    def _read_tagged(self, target: str) -> tuple[bytes, str]:
        """An object's content with its tag, from one answer. Raises FileNotFoundError."""

    @abstractmethod
    def _put_tagged(self, target: str, data: bytes, tag: str) -> None:
        """Replace the object that has this tag. Raises FileExistsError when it has another by now, or FileNotFoundError."""

    def _prove_match(self, target: str, data: bytes, old_tag: str) -> None:
        """Check that a store heeds the condition, if stores of many makers speak the protocol."""


class GcsStorage(TaggedStorage):
    """Google Cloud Storage, through gcsfs: an object's version is its generation."""

    def _read_tagged(self, target: str) -> tuple[bytes, str]:
        with _unanswered():
            headers, content = self._fs.call("GET", self._fs.url(target))
        return content, headers["X-Goog-Generation"]

    def _put_tagged(self, target: str, data: bytes, tag: str) -> None:
        bucket, key, _ = self._fs.split_path(target)
        with _unanswered():
            self._fs.call(
                "POST",
                f"{self._fs._location}/upload/storage/v1/b/{bucket}/o",
                headers={"Content-Type": "application/octet-stream"},
                data=data,
                uploadType="media",
                name=key,
                ifGenerationMatch=tag,
            )


class AzureStorage(TaggedStorage):
    """Azure's blobs and lakes, through adlfs."""

    def _read_tagged(self, target: str) -> tuple[bytes, str]:
        from azure.core.exceptions import ResourceNotFoundError
        from fsspec.asyn import sync

        with _unanswered():
            try:
                content, tag = sync(self._fs.loop, self._download, target)
            except ResourceNotFoundError as error:
                raise FileNotFoundError(target) from error
        return content, tag

    async def _download(self, target: str) -> tuple[Any, Any]:
        container, blob, _ = self._fs.split_path(target)
        async with self._fs.service_client.get_blob_client(container=container, blob=blob) as client:
            answer = await client.download_blob()
            return await answer.readall(), answer.properties.etag

    def _put_tagged(self, target: str, data: bytes, tag: str) -> None:
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceModifiedError, ResourceNotFoundError

        with _unanswered():
            try:
                self._fs.pipe_file(target, data, etag=tag, match_condition=MatchConditions.IfNotModified)
            except ResourceModifiedError as error:
                raise FileExistsError(target) from error
            except ResourceNotFoundError as error:
                raise FileNotFoundError(target) from error


@contextmanager
def _unanswered() -> Iterator[None]:
    """The errors of the stores' own clients as those of other file systems."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
