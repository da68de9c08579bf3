"""Single records that a job leaves out, as ALTER JOB .. SKIP RECORDS says: they are kept with what the queries of a job have the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlstream.connectors.kafka.offsets import parse_records
from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlstream.core.storage import Place

    # By the topic: partitions and offsets.
    Records = Mapping[str, Sequence[tuple[int, int]]]

_FILE = "skipped.json"
_FORM = "Write 'partition:0,offset:42;partition:0,offset:57'."


def parsed(spec: str) -> list[tuple[int, int]]:
    """Partition and offset of each record of ``partition:0,offset:3;partition:0,offset:9``. Raises ValidationError."""
    try:
        records = parse_records(spec)
    except ValueError as error:
        raise ValidationError(f"'{spec}' says no records: {error}.", hint=_FORM) from None
    if not records:
        raise ValidationError(f"'{spec}' says no records: it is empty.", hint=_FORM)
    return records


def add(shared: Place, wanted: Records) -> None:
    """Leave out ``wanted`` as well, of topics that the job reads; with none of them, leave nothing out. Raises ValidationError.

    ``shared`` is as of Read.
    """
    topics = {topic for file in shared.glob("*.topics") for topic in json.loads(file.read_text())}
    for topic in wanted:
        if topic not in topics:
            raise ValidationError(f"The job reads no topic '{topic}'.", hint=f"It reads {', '.join(sorted(topics)) or 'none'}.")
    kept = {topic: set(of) for topic, of in known(shared).items()} if wanted else {}
    for topic, of in wanted.items():
        kept.setdefault(topic, set()).update(of)
    storage.write(shared / _FILE, json.dumps({topic: sorted(of) for topic, of in sorted(kept.items())}))


def condition(shared: Place | None, topics: Collection[str]) -> str | None:
    """SQL over the columns of Spark's source: whether a record stays; None where all of ``topics`` do."""
    left_out = {} if shared is None else known(shared)
    records = [f"({spark_string(topic)}, {number}, {offset}L)" for topic, of in left_out.items() if topic in topics for number, offset in of]
    return f"(topic, partition, offset) NOT IN ({', '.join(records)})" if records else None


def known(shared: Place) -> Records:
    """The records that are left out. ``shared`` is as of Read."""
    file = shared / _FILE
    return {topic: [(number, offset) for number, offset in of] for topic, of in json.loads(file.read_text()).items()} if file.exists() else {}


def written(records: Sequence[tuple[int, int]]) -> str:
    """What ``parsed`` reads."""
    return ";".join(f"partition:{number},offset:{offset}" for number, offset in records)
