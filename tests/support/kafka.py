"""A broker of Apache Kafka for tests: KRaft, one process, which keeps its data in a folder of its own and ends with it."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from hudi_services.runtime.spark.java import find_java
from tests.interop.peer_env import KAFKA, PEER, ensure_kafka, fetched
from tests.support.servers import Server, free_port

USER, PASSWORD = "lake", "p@ss/wörd:1"
_FORMATTED = "version=1\ncluster.id=hZ0aBcDeQkqWxYz0123456\nnode.id=1\ndirectory.id=pVn3UIjkQ2aYb7c8d9e0fg\n"
"""The file that `kafka-storage format` writes, which takes another JVM."""
_SILENT = "-Xlog:cds*=off"
_JVM_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
Message = tuple[bytes | str | None, bytes | str | None]
"""Key and value."""


def start_broker() -> Kafka:
    """A broker whose JVM maps its classes from an archive, which halves the start. The first broker of a machine makes it."""
    ensure_kafka()
    java = find_java()
    command = (str(java.home / "bin" / "java"), *_JVM_OPTIONS, _SILENT)
    archive = PEER / f"{KAFKA.name}-java-{java.build}.jsa"
    with fetched(archive) as begun:
        if begun is not None:
            sample = Kafka((*command, f"-XX:ArchiveClassesAtExit={begun}"))
            sample.create("sample")
            sample.stop(patience=120)
    return Kafka((*command, f"-XX:SharedArchiveFile={archive}"))


class Kafka:
    """A broker with a plain port, and a port with TLS on which `USER` logs in by SASL."""

    def __init__(self, java: Sequence[str]) -> None:
        """`java` is the JVM with its options."""
        self._folder = Path(tempfile.mkdtemp(prefix="kafka-"))
        data = self._folder / "data"
        data.mkdir()
        (data / "meta.properties").write_text(_FORMATTED)
        self.port, self.tls_port, controller = free_port(), free_port(), free_port()
        self.ca = self._folder / "ca.pem"
        keys = _certificate(self._folder, self.ca)
        login = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},SASL_SSL://127.0.0.1:{self.tls_port},"
            f"CONTROLLER://127.0.0.1:{controller}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_ssl.plain.sasl.jaas.config": login,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(keys),
            "log.dirs": str(data),
            "num.partitions": "1",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "log.initial.task.delay.ms": "0",
            "log.cleaner.backoff.ms": "100",
        }
        file = self._folder / "server.properties"
        file.write_bytes(
            "".join(f"{name}={value}\n" for name, value in settings.items()).encode("latin-1")
        )  # as Java reads
        self._command: list[object] = [*java, "-cp", f"{KAFKA}/*", "kafka.Kafka", file]
        self.start()
        self.admin = AdminClient({"bootstrap.servers": self.brokers, "log_level": 0})

    @property
    def brokers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The Airflow connection of the plain port."""
        return f"kafka://{self.brokers}"

    @property
    def tls_url(self) -> str:
        """The Airflow connection of the user `lake` on the port with TLS."""
        return f"kafka://{USER}:p%40ss%2Fw%C3%B6rd%3A1@localhost:{self.tls_port}"

    def start(self) -> None:
        self._server = Server("kafka", self._command, self.port, self._folder)

    def stop(self, patience: float = 20) -> None:
        self._server.stop(patience=patience)

    def kill(self) -> None:
        """End it by SIGKILL. `start` lets it go on with the same data."""
        self._server.kill()

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        named = {name.replace("_", "."): value for name, value in config.items()}
        for future in self.admin.create_topics([NewTopic(topic, partitions, 1, config=named)]).values():
            future.result()

    def delete(self, topic: str) -> None:
        for future in self.admin.delete_topics([topic]).values():
            future.result()

    def grow(self, topic: str, partitions: int) -> None:
        for future in self.admin.create_partitions([NewPartitions(topic, partitions)]).values():
            future.result()

    def purge(self, topic: str, partition: int, before: int) -> None:
        """Delete the messages before an offset, as retention does."""
        for future in self.admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result()

    def cut(self, topic: str, partition: int, batches: int) -> None:
        """Kill the broker, let the log of a partition lose all after its first batches, and start it again."""
        self.kill()
        [log] = (self._folder / "data" / f"{topic}-{partition}").glob("*.log")
        text, end = log.read_bytes(), 0
        for _ in range(batches):
            end += 12 + int.from_bytes(text[end + 8 : end + 12], "big")  # after the offset and the length of a batch
        log.write_bytes(text[:end])
        self.start()

    def producer(self, **settings: Any) -> Producer:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        return Producer({"bootstrap.servers": self.brokers, "linger.ms": 0, "log_level": 0, **named})

    def send(self, topic: str, messages: Iterable[Message], partition: int = 0, timestamp: int = 0) -> None:
        """Send messages and wait until they are stored. Without a timestamp they have the time of now."""
        producer = self.producer()
        _send(producer, topic, messages, partition, timestamp)
        assert producer.flush(20) == 0

    def wait_until_compacted(self, topic: str, send: Callable[[], None]) -> None:
        """Wait until the log has gaps. `send` adds a message, since the last segment of a log is never compacted."""
        for _ in range(200):
            send()
            time.sleep(0.15)
            if self._has_gaps(topic):
                return
        raise AssertionError(f"{topic} was not compacted")

    def _has_gaps(self, topic: str) -> bool:
        settings = {"group.id": "tests", "auto.offset.reset": "error", "enable.partition.eof": True, "log_level": 0}
        consumer = Consumer({"bootstrap.servers": self.brokers, **settings})
        consumer.assign([TopicPartition(topic, 0, 0)])
        count = 0
        try:
            while True:
                for message in consumer.consume(1000, 1.0):
                    if message.error():
                        return message.offset() > count
                    count += 1
        finally:
            consumer.close()

    def transaction(self, name: str) -> Transaction:
        """A transaction that has begun."""
        producer = self.producer(transactional_id=name, transaction_timeout_ms=60_000)
        producer.init_transactions(20)
        producer.begin_transaction()
        return Transaction(producer)


class Transaction:
    """Messages that are visible when it is committed."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer

    def send(self, topic: str, messages: Sequence[Message], partition: int = 0) -> None:
        _send(self._producer, topic, messages, partition, 0)
        assert self._producer.flush(20) == 0

    def commit(self) -> None:
        self._producer.commit_transaction(20)

    def abort(self) -> None:
        self._producer.abort_transaction(20)


def _send(producer: Producer, topic: str, messages: Iterable[Message], partition: int, timestamp: int) -> None:
    for key, value in messages:
        producer.produce(topic, value, key, partition, timestamp=timestamp)
        producer.poll(0)


def _certificate(folder: Path, ca: Path) -> Path:
    """A certificate of localhost that signs itself, which `ca` gets; returns the file of key and certificate."""
    key, both = folder / "key.pem", folder / "broker.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(ca)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    both.write_text(key.read_text() + ca.read_text())
    return both
