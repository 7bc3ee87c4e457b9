"""s3fs with the errors of other file systems. Imported when the first table on S3 is opened: s3fs takes half a second."""

from __future__ import annotations

import errno
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    UnauthorizedSSOTokenError,
)
from fsspec.asyn import sync
from s3fs import S3FileSystem

from hoodie.errors import ConfigError

_NO_CREDENTIALS = (NoCredentialsError, PartialCredentialsError, ProfileNotFound, UnauthorizedSSOTokenError)


class S3Client(S3FileSystem):  # type: ignore[misc]
    """s3fs, whose every request passes here; where it would raise an error of botocore's own, this raises an OSError.

    Raises ConfigError when there are no credentials.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.exclusive: set[str] = set()  # buckets whose store was seen to refuse a second object of a key
        self.matching: set[str] = set()  # … and a replacement of an object that had changed

    async def _call_s3(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        try:
            return await super()._call_s3(method, *arguments, **keywords)
        except _NO_CREDENTIALS as error:
            raise ConfigError(
                f"No credentials for the bucket {keywords.get('Bucket', '')}".rstrip(),
                found=str(error),
                fix="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, also for Spark's executors",
            ) from error
        except BotoCoreError as error:
            raise OSError(errno.EIO, str(error)) from error

    def read_tagged(self, path: str) -> tuple[bytes, str]:
        """An object's content with its entity tag, from one answer. Raises FileNotFoundError."""
        content, tag = sync(self.loop, self._read_tagged, path)
        return content, tag

    async def _read_tagged(self, path: str) -> tuple[bytes, str]:
        bucket, key, _ = self.split_path(path)
        answer = await self._call_s3("get_object", Bucket=bucket, Key=key)
        try:
            return await answer["Body"].read(), answer["ETag"]
        finally:
            answer["Body"].close()
