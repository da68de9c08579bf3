"""Where a job is to go on reading a topic: what ALTER JOB .. SET OFFSETS says, as offsets.

In: ``earliest``, ``latest``, ``timestamp=<milliseconds or ISO 8601>`` or ``partition:0,offset:42;partition:1,offset:43``, and the brokers. Out: the
offset of each partition of the topic that it is about.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlstream.connectors.kafka.offsets import EARLIEST, LATEST, parse_specific
from sqlstream.core.errors import ValidationError
from sqlstream.core.options import parse_whole
from sqlstream.core.zones import zone_of

if TYPE_CHECKING:
    from sqlstream.connectors.kafka.offsets import Cluster

_ENDS = {"earliest": EARLIEST, "earliest-offset": EARLIEST, "latest": LATEST, "latest-offset": LATEST}
_TIMESTAMP = "timestamp="
_FORMS = "Write 'earliest', 'latest', 'timestamp=2026-01-31T08:00:00Z' or 'partition:0,offset:42;partition:1,offset:43'."


def check(spec: str, zone: str = "UTC") -> None:
    """Raises ValidationError for a ``spec`` that is none."""
    _parsed(spec, zone)


def offsets_of(spec: str, topic: str, kafka: Cluster, zone: str = "UTC") -> dict[int, int]:
    """The offset of each partition of ``topic`` that ``spec`` is about. ``zone`` is that of a time that names none.

    Raises ValidationError for a ``spec`` that is none, a topic or partition that is missing, an offset that the partition does not have; SetupError
    if the brokers don't answer.
    """
    wanted = _parsed(spec, zone)
    partitions = kafka.partitions([topic], None)
    if isinstance(wanted, datetime):
        found = kafka.at_time(round(wanted.timestamp() * 1000), partitions)
    elif isinstance(wanted, int):
        found = kafka.resolved(dict.fromkeys(partitions, wanted))
    else:
        first, last = (kafka.resolved(dict.fromkeys(partitions, end)) for end in (EARLIEST, LATEST))
        found = {(topic, number): offset for number, offset in wanted.items()}
        for (_, number), offset in found.items():
            if (topic, number) not in first:
                raise ValidationError(f"Kafka topic '{topic}' has no partition {number}: it has {len(partitions)}, from 0 on.")
            least, most = first[topic, number], last[topic, number]
            if not least <= offset <= most:
                raise ValidationError(f"Partition {number} of Kafka topic '{topic}' has no offset {offset}: it can resume from {least} to {most}.")
    return {number: offset for (_, number), offset in sorted(found.items())}


def _parsed(spec: str, zone: str) -> int | datetime | dict[int, int]:
    """EARLIEST, LATEST, a moment, or the offset of each partition."""
    text = spec.strip()
    if (end := _ENDS.get(text.lower())) is not None:
        return end
    try:
        if not text.lower().startswith(_TIMESTAMP):
            return _specific(text)
        moment = text[len(_TIMESTAMP) :].strip()
        if moment.isascii() and moment.isdigit():
            return datetime.fromtimestamp(parse_whole(moment, 64) / 1000, UTC)
        at = datetime.fromisoformat(moment)
        return at if at.tzinfo is not None else at.replace(tzinfo=zone_of(zone))
    except (ValueError, OverflowError, OSError) as error:
        raise ValidationError(f"'{spec}' says no offsets: {str(error).rstrip('.')}.", hint=_FORMS) from None


def _specific(text: str) -> dict[int, int]:
    offsets = parse_specific(text)
    if not offsets:
        raise ValueError("it is empty")
    return offsets
