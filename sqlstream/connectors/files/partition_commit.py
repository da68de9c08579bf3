"""When the partitions of a filesystem table are committed: an empty file in each says that it is complete.

By process time that is with the batch that wrote into them. By partition time it is when the watermark has passed the time that a partition's
values give, and a delay: ``dt=2026-01-31/hour=07`` by the pattern ``$dt $hour:00:00``. Until then what was written stands in the file
``pending`` beside the batches of the writer, so that no kill loses it; what is written into a partition later commits it once more.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlstream.connectors.files.folder import Folder

_PENDING = "pending"
_TIME = re.compile(r"(\d{1,10})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?", re.ASCII)
Partition = tuple[str, ...]
"""The names of a partition's folders: ``dt=2026-01-31``, ``hour=07``."""


@dataclass(frozen=True)
class PartitionTime:
    """How a partition's time comes from its values, and how long after it the watermark must be past it."""

    keys: tuple[str, ...]
    pattern: str | None
    formatter: str | None
    zone: str
    delay_ms: int

    def text(self, partition: Partition) -> str:
        """What the time is read from."""
        values = [unquote(step.partition("=")[2]) for step in partition]
        if self.pattern is None:
            return values[0]
        text = self.pattern
        for key, value in zip(self.keys, values, strict=True):
            text = text.replace(f"${key}", value)
        return text

    def millis(self, partition: Partition, java: Any) -> int:
        """The moment of a partition in milliseconds since 1970; ``java`` is the JVM's packages. Raises ValidationError."""
        text = self.text(partition)
        time = self._local(text, java)
        if time is None:
            shown = "/".join(partition)
            how = f"formatter '{self.formatter}'" if self.formatter else "form 'yyyy-MM-dd' or 'yyyy-MM-dd HH:mm:ss'"
            raise ValidationError(
                f"The time of partition '{shown}' is '{text}', which is not of the {how}.",
                hint="Say how it is written: 'partition.time-extractor.timestamp-pattern' and 'partition.time-extractor.timestamp-formatter'.",
            )
        return int(time.atZone(java.time.ZoneId.of(self.zone)).toInstant().toEpochMilli())

    def _local(self, text: str, java: Any) -> Any:
        """A LocalDateTime; None where ``text`` is none. Without a formatter days and hours that are too many go over into the next, as in Flink."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        # Under a Spark session PySpark makes an exception of its own out of one of java.time.
        refused = (Py4JJavaError, PySparkException)
        time = java.time
        if self.formatter is None:
            match = _TIME.fullmatch(text)
            if match is None:
                return None
            year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
            first = time.LocalDateTime.of(year, 1, 1, 0, 0).plusMonths(month - 1).plusDays(day - 1)
            return first.plusHours(hour).plusMinutes(minute).plusSeconds(second).plusNanos(int((match[7] or "").ljust(9, "0")))
        formatter = time.format.DateTimeFormatter.ofPattern(self.formatter, java.util.Locale.ROOT)
        try:
            return time.LocalDateTime.parse(text, formatter)
        except refused:
            try:
                return time.LocalDate.parse(text, formatter).atStartOfDay()
            except refused:
                return None


@dataclass(frozen=True)
class PartitionCommit:
    """Commits partitions by a file named ``success``: at once, or where there is ``time``, when ``watermark`` has passed it.

    ``watermark`` gives milliseconds since 1970, None before the first.
    """

    success: str
    time: PartitionTime | None = None
    watermark: Callable[[], int | None] = lambda: None

    def written(self, folder: Folder, writer: str, partitions: Iterable[Partition]) -> None:
        """A batch is about to come into ``partitions``, and how far the watermark is with it."""
        watermark, before = self._pending(folder, writer)
        known = [w for w in (watermark, self.watermark() if self.time else None) if w is not None]
        self._keep(folder, writer, max(known, default=None), {*before, *partitions})

    def commit(self, folder: Folder, writer: str) -> None:
        """Commit those of the partitions written to whose time has come."""
        watermark, pending = self._pending(folder, writer)
        due = {p for p in pending if self._due(p, watermark, folder)}
        for partition in sorted(due):
            folder.write("", *partition, self.success)
        if due:
            self._keep(folder, writer, watermark, pending - due)

    def _due(self, partition: Partition, watermark: int | None, folder: Folder) -> bool:
        if self.time is None:
            return True
        millis = self.time.millis(partition, folder.java)
        return watermark is not None and watermark > millis + self.time.delay_ms

    def _pending(self, folder: Folder, writer: str) -> tuple[int | None, set[Partition]]:
        kept = json.loads(folder.read(".sqlstream", writer, _PENDING) or "{}")
        return kept.get("watermark"), {tuple(p) for p in kept.get("partitions", ())}

    def _keep(self, folder: Folder, writer: str, watermark: int | None, partitions: set[Partition]) -> None:
        folder.write(json.dumps({"watermark": watermark, "partitions": sorted(partitions)}), ".sqlstream", writer, _PENDING)
