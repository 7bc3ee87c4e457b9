"""A topic as the brokers know it: its identity, its partitions, and the offsets that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hoodie.errors import ConfigError, HoodieError, SourceError, SourceUnavailableError

SECONDS = 20.0
"""The time to wait for an answer of the brokers."""


@dataclass(frozen=True)
class TopicState:
    """A topic at a moment: for each partition its first offset, and the end up to which transactions are decided."""

    cluster: str
    topic: str
    id: str | None
    starts: Mapping[int, int]
    ends: Mapping[int, int]


def library() -> Any:
    """The client library. Raises ConfigError where it is not installed."""
    try:
        import confluent_kafka
    except ImportError as error:
        raise ConfigError(
            "Topics of Kafka need the package confluent-kafka",
            found=str(error),
            fix="pip install 'hudi-table-services[kafka]'",
        ) from error
    return confluent_kafka


@dataclass
class Troubles:
    """The last error of a connection, which explains why an answer did not come."""

    last: str = ""

    def __call__(self, error: Any) -> None:
        if not self.last or error.code() != library().KafkaError._ALL_BROKERS_DOWN:
            self.last = str(error.str())


def topic_state(settings: Mapping[str, Any], name: str, topic: str, seconds: float | None = None) -> TopicState:
    """Ask the brokers of the server `name`, and wait `seconds` for each of a few answers.

    Raises SourceError for a topic that is not there, SourceUnavailableError without an answer.
    """
    seconds = SECONDS if seconds is None else seconds
    kafka = library()
    from confluent_kafka.admin import AdminClient, OffsetSpec

    troubles = Troubles()
    admin = None
    try:
        admin = AdminClient({**settings, "error_cb": troubles, "log_level": 0})
        result = admin.describe_topics(kafka.TopicCollection([topic]), request_timeout=seconds)[topic].result(
            seconds * 2
        )
        cluster = admin.list_topics(topic, timeout=seconds).cluster_id
        partitions = [partition.id for partition in result.partitions]
        # The ends first: a message may be deleted between the two, and a start must not lie behind its end.
        ends = _offsets(kafka, admin, topic, partitions, OffsetSpec.latest(), seconds)
        starts = _offsets(kafka, admin, topic, partitions, OffsetSpec.earliest(), seconds)
    except (kafka.KafkaException, TimeoutError) as error:
        if admin is not None:
            admin.poll(0)  # hands over the troubles
        raise failed(error, name, topic, troubles) from error
    ends = {partition: max(end, starts[partition]) for partition, end in ends.items()}
    identity = str(result.topic_id) if result.topic_id is not None else None
    return TopicState(str(cluster), topic, identity, starts, ends)


def _offsets(
    kafka: Any, admin: Any, topic: str, partitions: Sequence[int], offset_spec: Any, seconds: float
) -> dict[int, int]:
    requests = {kafka.TopicPartition(topic, partition): offset_spec for partition in partitions}
    level = kafka.IsolationLevel.READ_COMMITTED
    answers = admin.list_offsets(requests, isolation_level=level, request_timeout=seconds)
    return {place.partition: int(answer.result(seconds * 2).offset) for place, answer in answers.items()}


def failed(error: Exception, name: str, topic: str, troubles: Troubles) -> HoodieError:
    """The error of this project for one of the client."""
    kafka = library()
    reason = error.args[0] if error.args else None
    code = reason.code() if isinstance(reason, kafka.KafkaError) else None
    reason_text = str(reason.str()) if isinstance(reason, kafka.KafkaError) else "no answer"
    result = "; ".join(filter(None, (reason_text, troubles.last)))
    codes = kafka.KafkaError
    if code in (codes.UNKNOWN_TOPIC_OR_PART, codes._UNKNOWN_TOPIC, codes._UNKNOWN_PARTITION):
        return SourceError(
            f"The topic {topic} of server {name} is not there",
            found=result,
            fix="correct `source.topic`, or create the topic",
        )
    if code in (codes.TOPIC_AUTHORIZATION_FAILED, codes.CLUSTER_AUTHORIZATION_FAILED):
        return SourceError(
            f"The user may not read topic {topic} of server {name}",
            found=result,
            fix="grant READ and DESCRIBE on the topic",
        )
    if code in (codes._AUTHENTICATION, codes.SASL_AUTHENTICATION_FAILED) or "uthentication" in troubles.last:
        return SourceError(
            f"The brokers of server {name} refuse the login",
            found=result,
            fix="correct the connection, or `sasl` of the server",
        )
    return SourceUnavailableError(
        f"The brokers of server {name} do not answer",
        found=result,
        fix="check the addresses of its connection, and its keys `tls`, `ca` and `sasl`",
    )
