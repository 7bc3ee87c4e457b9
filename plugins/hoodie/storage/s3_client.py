"""s3fs with the errors of other file systems. Imported when the first table on S3 is opened: s3fs takes half a second."""

from __future__ import annotations

import asyncio
import errno
import os
import time
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

from hoodie.errors import AccessDeniedError, ConfigError, StorageError
from hoodie.storage.outage import store_code

_NO_CREDENTIALS = (NoCredentialsError, PartialCredentialsError, ProfileNotFound, UnauthorizedSSOTokenError)
_FIRST_S = 20.0
"""Seconds for the first answer of an endpoint. botocore and s3fs each try five times, which takes minutes."""
_SMALL = frozenset({"head_object", "list_objects_v2", "get_object"})  # requests that send nothing
_ENDPOINT = "AWS_ENDPOINT_URL"
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"})
_REFUSED = _EXPIRED | {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidSecurity"}
"""S3's words for credentials that it does not know, or no longer."""
_PLACES = {
    "explicit": "the storage options",
    "env": "the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
    "iam-role": "the role of this machine",
    "container-role": "the role of this container",
}
"""The places of credentials by botocore's words."""


class S3Client(S3FileSystem):  # type: ignore[misc]
    """s3fs, whose every request passes here; where it would raise an error of botocore's own, this raises an OSError.

    Raises AccessDeniedError when the store refuses the credentials, ConfigError when there are none, no such bucket or no such
    address, StorageError when the endpoint accepts the first connection and does not answer.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.exclusive: set[str] = set()  # buckets whose store was seen to refuse a second object of a key
        self.matching: set[str] = set()  # … and a replacement of an object that had changed
        self._answered = False
        self._silent_until = 0.0  # by the monotonic clock: the next requests need not wait as long

    async def _call_s3(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        try:
            answer = await self._answer(method, arguments, keywords)
            self._answered = True
            return answer
        except FileNotFoundError as error:
            self._answered = True
            bucket = keywords.get("Bucket")
            if bucket and (method == "list_objects_v2" or store_code(error) == "NoSuchBucket"):
                raise ConfigError(
                    f"There is no bucket {bucket!r} at {self._endpoint}",
                    found=f"{store_code(error) or error}",
                    fix=f"make the bucket, or correct the path or {_ENDPOINT}. Nothing was created",
                ) from error
            raise
        except OSError as error:
            code = await self._code(method, error, keywords)
            if code not in _REFUSED:
                raise
            raise self._refused(code, error, keywords.get("Bucket", "")) from error
        except _NO_CREDENTIALS as error:
            raise ConfigError(
                f"No credentials for the bucket {keywords.get('Bucket', '')}".rstrip(),
                found=str(error),
                fix="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, also for Spark's executors",
            ) from error
        except BotoCoreError as error:
            raise OSError(errno.EIO, str(error)) from error
        except ValueError as error:
            if getattr(self, "_s3", None) is not None:
                raise
            raise ConfigError(  # botocore makes no client of such an address
                "The address of the S3 endpoint cannot be used",
                found=str(error),
                fix=f"write {_ENDPOINT} with its scheme, such as http://minio:9000",
            ) from error

    async def _code(self, method: str, error: OSError, keywords: Any) -> str:
        """The store's word for an error. The answer to a HEAD has none: a listing of one object asks for it."""
        code = store_code(error)
        if method != "head_object" or code not in ("400", "403"):
            return code
        try:
            await super()._call_s3("list_objects_v2", Bucket=keywords["Bucket"], MaxKeys=1)
        except (OSError, BotoCoreError) as second:
            return store_code(second) if isinstance(second, OSError) else code
        return code

    async def _answer(self, method: str, arguments: Any, keywords: Any) -> Any:
        """The answer to a request. Before the first one of the endpoint, for no longer than a user waits."""
        request = super()._call_s3(method, *arguments, **keywords)
        if self._answered or method not in _SMALL:
            return await request
        if time.monotonic() < self._silent_until:
            request.close()
            raise self._silent()
        try:
            return await asyncio.wait_for(request, _FIRST_S)
        except TimeoutError as error:
            self._silent_until = time.monotonic() + _FIRST_S
            raise self._silent() from error

    def _silent(self) -> StorageError:
        return StorageError(
            f"The storage at {self._endpoint} does not answer",
            found=f"no answer to the first request within {_FIRST_S:.0f} s",
            fix=f"look whether it runs, and whether {_ENDPOINT} and a proxy are right, then try again; nothing was changed",
        )

    def _refused(self, code: str, error: OSError, bucket: str) -> AccessDeniedError:
        """The error of credentials that the store does not take."""
        signer = getattr(getattr(self, "_s3", None), "_request_signer", None)
        credentials = getattr(signer, "_credentials", None)
        method = str(getattr(credentials, "method", "")) or "unknown place"
        key = str(getattr(credentials, "access_key", ""))
        place = _PLACES.get(method, f"the profile {os.environ.get('AWS_PROFILE', 'default')} ({method})")
        remedy = "get new ones: these have expired" if code in _EXPIRED else "correct the key id and the secret"
        refused = AccessDeniedError(
            f"The storage at {self._endpoint} refuses the credentials for the bucket {bucket}",
            found=f"{code} for the key that ends in {key[-4:]!r}, from {place}",
            fix=f"{remedy}, there or in what takes precedence: storage options, then the environment, then the profile. No right "
            "to a folder is missing",
        )
        refused.errno = errno.EACCES
        return refused

    @property
    def _endpoint(self) -> str:
        client = getattr(self, "_s3", None)
        return str(client.meta.endpoint_url) if client is not None else os.environ.get(_ENDPOINT, "the endpoint of AWS")

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
