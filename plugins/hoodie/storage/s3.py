"""S3 and every store that speaks its protocol, through s3fs."""

from __future__ import annotations

import errno
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hoodie.errors import ConfigError
from hoodie.storage.base import File
from hoodie.storage.etag import TaggedStorage
from hoodie.storage.outage import store_code

# Metadata of an object: which call made it.
_MAKER = "made-by"
_EXISTS = frozenset({"PreconditionFailed", "412"})
# Another request for this key was under way: neither has won yet, S3 asks to try again.
_CONFLICT = frozenset({"ConditionalRequestConflict", "OperationAborted"})
_TRIES = 5


class S3Storage(TaggedStorage):
    """Objects of a bucket. `s3a://`, Hadoop's spelling, is the same place; credentials and endpoint are the environment's.

    Every file is made by one conditional request (`If-None-Match: *`), which the store must obey, and is tried once: of two
    writers of a name one wins and the other gets FileExistsError, and nothing is there until a file is whole. A request whose
    answer is lost is sent again by the client, and then finds its own file; the object's metadata names its maker. Buckets are
    never made.
    """

    def _open_file_system(self) -> tuple[Any, str]:
        from hoodie.storage.s3_client import S3Client

        client = S3Client(use_listings_cache=False, **self._options)
        return client, client._strip_protocol(self._url)

    @contextmanager
    def open_output(self, path: str) -> Iterator[File]:
        target, maker = self._full(path), uuid.uuid4().hex
        sink = self._fs.open(target, "xb", Metadata={_MAKER: maker})
        try:
            yield sink
        except BaseException:
            # Closing, also by the garbage collector, would make a file of what was written so far.
            with suppress(Exception):
                sink.discard()
            sink.closed = True
            raise
        try:
            sink.close()
        except OSError as error:
            self._settle(target, maker, error)

    def create(self, path: str, data: bytes) -> None:
        target, maker = self._full(path), uuid.uuid4().hex
        for tried in range(1, _TRIES + 1):
            try:
                self._fs.pipe_file(target, data, mode="create", Metadata={_MAKER: maker})
            except OSError as error:
                if store_code(error) in _CONFLICT and tried < _TRIES:
                    time.sleep(0.1 * tried)
                    continue
                self._settle(target, maker, error)
            break
        self._prove(target, data)

    def _read_tagged(self, target: str) -> tuple[bytes, str]:
        content, tag = self._fs.read_tagged(target)
        return content, tag

    def _put_tagged(self, target: str, data: bytes, tag: str) -> None:
        """By `If-Match`."""
        try:
            self._fs.pipe_file(target, data, IfMatch=tag)
        except OSError as error:
            if _is_there(error):
                raise FileExistsError(errno.EEXIST, "File exists", target) from error
            raise

    def _prove_match(self, target: str, data: bytes, old_tag: str) -> None:
        """Once for each client and bucket: the same request again, whose tag is no more the object's, must be refused."""
        bucket = target.partition("/")[0]
        if bucket in self._fs.matching:
            return
        try:
            self._fs.pipe_file(target, data, IfMatch=old_tag)
        except OSError as error:
            if _is_there(error):
                self._fs.matching.add(bucket)
            return
        raise ConfigError(
            f"Cannot lock tables at {self._url} by a file that is replaced",
            found="the store replaced a file that had changed although the request said `If-Match`",
            fix="use a store, or a version of it, with conditional writes, or another hoodie.write.lock.provider",
        )

    def _prove(self, target: str, data: bytes) -> None:
        """Once for each client and bucket: a second request for the file that was just made must be refused.

        A store that does not know the condition ignores it, and two writers would hold one lock.
        """
        bucket = target.partition("/")[0]
        if bucket in self._fs.exclusive:
            return
        try:
            self._fs.pipe_file(target, data, mode="create")
        except OSError as error:
            if _is_there(error):
                self._fs.exclusive.add(bucket)
            return
        self._fs.rm_file(target)
        raise ConfigError(
            f"Cannot write tables to {self._url}",
            found="the store replaced a file that is there although the request said `If-None-Match: *`",
            fix="use a store, or a version of it, with conditional writes; reading from there is possible",
        )

    def _settle(self, target: str, maker: str, error: OSError) -> None:
        """After a failed request: return when the file is there and is ours. Otherwise raise FileExistsError or the error
        itself."""
        with suppress(OSError):
            if self._fs.metadata(target, refresh=True).get(_MAKER) == maker:
                return
        if _is_there(error):
            raise FileExistsError(errno.EEXIST, "File exists", target) from error
        raise error


def _is_there(error: OSError) -> bool:
    return isinstance(error, FileExistsError) or store_code(error) in _EXISTS
