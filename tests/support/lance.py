"""Tables of Lance files, made of those that the library writes."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq

from hoodie.storage import walk_files


def as_lance(table, write):
    """Make Lance files of a table's base files, by `write(rows, path)`, and change its properties and commits accordingly.

    Rows and what footers say of keys stay. As in Hudi's files it is the metadata of the schema.
    """
    sizes = {}
    for file in list(walk_files(table.storage, "")):
        if file.name.endswith(".parquet") and ".hoodie" not in file.path:
            path = file.path.replace(".parquet", ".lance")
            rows = pq.read_table(f"{table.base_path}/{file.path}")
            footer = pq.read_metadata(f"{table.base_path}/{file.path}").metadata
            keys = {name: value for name, value in footer.items() if b"hoodie" in name or b"hudi" in name}
            write(rows.replace_schema_metadata(keys), f"{table.base_path}/{path}")
            table.storage.delete(file.path)
            sizes[file.path] = path, table.storage.info(path).size
    state = table.state()
    for commit in table.timeline.commits:
        metadata = state.commit_metadata(commit)
        stats = tuple(
            replace(stat, path=sizes[stat.path][0], file_size=sizes[stat.path][1]) if stat.path in sizes else stat
            for stat in metadata.stats
        )
        path = state.layout.path(commit)
        table.storage.delete(path)
        table.storage.create(path, state.layout.encode_commit(replace(metadata, stats=stats), replace=False))
    path = ".hoodie/hoodie.properties"
    data = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, data.replace(b"format=PARQUET", b"format=LANCE"))
