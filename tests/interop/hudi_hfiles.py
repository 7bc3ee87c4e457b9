"""HFiles through Apache Hudi's own classes: the peer's commands `hfile_read`, `hfile_write` and `bootstrap_index`.

`native` is Hudi's reader and writer (`org.apache.hudi.io.hfile`; 0.15.0 only reads), `hbase` the HBase inside 0.15.0. Bytes
travel as hexadecimal text.
"""

from __future__ import annotations

INFO = ("schema", "minRecordKey", "hfile.LASTKEY", "KEY_VALUE_VERSION")
HBASE = "org.apache.hudi.org.apache.hadoop.hbase"


def _walk(jvm, name):
    for part in name.split("."):
        jvm = getattr(jvm, part)
    return jvm


def read(spark, path, kind, keys):
    """All entries, those of the (ascending) `keys` by a seek each, the file info and the bloom filter's meta block."""
    return (_read_native if kind == "native" else _read_hbase)(spark, path, [bytes.fromhex(key) for key in keys])


def _native_reader(spark, path):
    jvm = spark._jvm
    with open(path, "rb") as file:
        data = file.read()
    old = "-0.15" in spark.conf.get("spark.jars")
    package = "org.apache.hudi.common.util.io" if old else "org.apache.hudi.io"
    stream = _walk(jvm, f"{package}.ByteBufferBackedInputStream")(data)
    source = jvm.org.apache.hudi.io.ByteArraySeekableDataInputStream(stream)
    reader = jvm.org.apache.hudi.io.hfile.HFileReaderImpl(source, len(data))
    reader.initializeMetadata()
    return reader


def _read_native(spark, path, keys):
    jvm = spark._jvm
    text = jvm.org.apache.hudi.io.hfile.UTF8StringKey

    def entry(reader):
        pair = reader.getKeyValue().get()
        data, start = bytes(pair.getBytes()), pair.getValueOffset()
        key = data[pair.getKeyContentOffset() :][: pair.getKeyContentLength()]
        return [key.hex(), data[start : start + pair.getValueLength()].hex()]

    reader = _native_reader(spark, path)
    entries = []
    going = reader.seekTo()
    while going:
        entries.append(entry(reader))
        going = reader.next()
    count = reader.getNumKeyValueEntries()
    reader = _native_reader(spark, path)
    reader.seekTo()
    found = [entry(reader) for key in keys if reader.seekTo(text(key.decode())) == 0]
    info = {name: reader.getMetaInfo(text(name)) for name in INFO}
    bloom = reader.getMetaBlock("bloomFilter")
    return {
        "entries": entries,
        "count": count,
        "found": found,
        "info": {name: bytes(value.get()).hex() for name, value in info.items() if value.isPresent()},
        "bloom": _buffer(bloom.get()) if bloom.isPresent() else None,
    }


def _buffer(buffer):
    return bytes(buffer.array())[buffer.arrayOffset() + buffer.position() :][: buffer.remaining()].hex()


def _read_hbase(spark, path, keys):
    jvm = spark._jvm
    hbase = _walk(jvm, HBASE)
    conf = spark._jsc.hadoopConfiguration()
    place = jvm.org.apache.hadoop.fs.Path(str(path))
    reader = hbase.io.hfile.HFile.createReader(place.getFileSystem(conf), place, conf)

    def entry(scanner):
        cell = scanner.getCell()
        return [bytes(hbase.CellUtil.cloneRow(cell)).hex(), bytes(hbase.CellUtil.cloneValue(cell)).hex()]

    scanner = reader.getScanner(False, False)
    entries = []
    going = scanner.seekTo()
    while going:
        entries.append(entry(scanner))
        going = scanner.next()
    found = []
    for key in keys:
        scanner = reader.getScanner(False, True)
        if scanner.seekTo(hbase.KeyValue(key, None, None, None)) == 0:
            found.append(entry(scanner))
    info = {name: reader.getHFileInfo().get(name.encode()) for name in INFO}
    bloom = reader.getMetaBlock("bloomFilter", False)
    content = None
    if bloom is not None:
        buffer = bloom.getBufferWithoutHeader()
        content = bytes(buffer.toBytes(buffer.position(), buffer.remaining())).hex()
    result = {
        "entries": entries,
        "count": reader.getEntries(),
        "found": found,
        "info": {name: bytes(value).hex() for name, value in info.items() if value is not None},
        "bloom": content,
    }
    reader.close()
    return result


def write(spark, path, kind, codec, block_size, entries, index_size):
    """A file with these entries, the file info `schema` and the meta block `bloomFilter`."""
    jvm = spark._jvm
    pairs = [(bytes.fromhex(key), bytes.fromhex(value)) for key, value in entries]
    if kind == "native":
        codecs = jvm.org.apache.hudi.io.compress.CompressionCodec
        builder = jvm.org.apache.hudi.io.hfile.HFileContext.builder().blockSize(block_size)
        context = builder.compressionCodec(codecs.GZIP if codec == "GZ" else codecs.NONE).build()
        writer = jvm.org.apache.hudi.io.hfile.HFileWriterImpl(context, jvm.java.io.FileOutputStream(str(path)))
        for key, value in pairs:
            writer.append(key.decode(), value)
        writer.appendFileInfo("schema", b"{}")
        writer.appendMetaInfo("bloomFilter", b"bloom")
        writer.close()
        return {}
    hbase = _walk(jvm, HBASE)
    conf = jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())
    conf.setInt("hfile.index.block.max.size", index_size)
    place = jvm.org.apache.hadoop.fs.Path(str(path))
    algorithms = hbase.io.compress.Compression.Algorithm
    context = (
        hbase.io.hfile.HFileContextBuilder()
        .withBlockSize(block_size)
        .withCompression(algorithms.GZ if codec == "GZ" else algorithms.NONE)
        .withChecksumType(hbase.util.ChecksumType.CRC32)  # ours; Hudi keeps HBase's CRC32C, which we do not check
        .withCellComparator(jvm.org.apache.hudi.io.storage.HoodieHBaseKVComparator())
        .build()
    )
    factory = hbase.io.hfile.HFile.getWriterFactoryNoCache(conf)
    writer = factory.withPath(place.getFileSystem(conf), place).withFileContext(context).create()
    for key, value in pairs:
        writer.append(hbase.KeyValue(key, None, None, value))
    writer.appendFileInfo(b"schema", b"{}")
    writer.appendMetaBlock("bloomFilter", jvm.org.apache.hadoop.io.Text("bloom"))
    writer.close()
    return {}


def bootstrap_index(spark, path):
    """Hudi's view of a table's bootstrap index: base path, files by partition, files by id."""
    jvm = spark._jvm
    conf = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(spark._jsc.hadoopConfiguration())
    client = (
        jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder().setConf(conf).setBasePath(str(path)).build()
    )
    reader = jvm.org.apache.hudi.common.bootstrap.index.BootstrapIndex.getBootstrapIndex(client).createReader()

    def shown(mapping):
        status = mapping.getBootstrapFileStatus()
        return [
            mapping.getPartitionPath(),
            mapping.getFileId(),
            mapping.getBootstrapPartitionPath(),
            status.getPath().getUri(),
            status.getLength(),
        ]

    partitions = list(reader.getIndexedPartitionPaths())
    by_partition = [shown(file) for name in partitions for file in reader.getSourceFileMappingForPartition(name)]
    ids = reader.getIndexedFileGroupIds()
    by_id = [shown(file) for file in reader.getSourceFileMappingForFileIds(ids).values()]
    answer = {"base": reader.getBootstrapBasePath(), "by_partition": by_partition, "by_id": by_id}
    reader.close()
    return answer
