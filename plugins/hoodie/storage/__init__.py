"""Storage of tables."""

from hoodie.storage.base import File, FileInfo, Listing, Storage, closing_input, join, walk_files
from hoodie.storage.factory import BasePath, open_storage, storage_of
from hoodie.storage.listing_cache import ListingCache
from hoodie.storage.local import LocalStorage
from hoodie.storage.remote import FsspecStorage
from hoodie.storage.s3 import S3Storage

__all__ = [
    "BasePath",
    "File",
    "FileInfo",
    "FsspecStorage",
    "Listing",
    "ListingCache",
    "LocalStorage",
    "S3Storage",
    "Storage",
    "closing_input",
    "join",
    "open_storage",
    "storage_of",
    "walk_files",
]
