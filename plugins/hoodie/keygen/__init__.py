"""Record keys and partition paths."""

from hoodie.keygen.folder_values import FolderValues, folder_values
from hoodie.keygen.generator import check_key_generator, key_generator
from hoodie.keygen.partition_path import DEFAULT_PARTITION, PartitionPaths, escape_path_name
from hoodie.keygen.record_key import RecordKeys, generated_keys
from hoodie.keygen.stored_keys import StoredKeys, stored_keys
from hoodie.keygen.text import keeps_text
from hoodie.keygen.time_units import misread_times
from hoodie.keygen.timestamps import TimestampFolders

__all__ = [
    "DEFAULT_PARTITION",
    "FolderValues",
    "PartitionPaths",
    "RecordKeys",
    "StoredKeys",
    "TimestampFolders",
    "check_key_generator",
    "escape_path_name",
    "folder_values",
    "generated_keys",
    "keeps_text",
    "key_generator",
    "misread_times",
    "stored_keys",
]
