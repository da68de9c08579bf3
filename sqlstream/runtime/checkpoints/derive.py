"""A checkpoint made from that of another query; Java does it, as a Spark job over the partitions of the state."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.runtime.checkpoints.records import QueryRecord


@dataclass(frozen=True)
class Source:
    """A source of the new query. ``old``: the name of the old query's source that it goes on with, None where it begins as its options say.

    ``offset``: from where it reads instead, as Spark's text of the offset. ``positions``: of a source of topics, for each topic that is read from
    elsewhere the offset of each of its partitions, None for that which it had. ``moved``: the URIs of the folder below which its files were, and of
    the one below which they are.
    """

    name: str
    old: str | None = None
    offset: str | None = None
    positions: Mapping[str, Mapping[int, int | None]] = field(default_factory=dict)
    moved: tuple[str, str] | None = None


@dataclass(frozen=True)
class CheckpointMapping:
    """What of the new query comes from what of the old one; None: all as it was.

    ``sources``: those of the new query, in the order of its offsets (that of its record); ``operators``: for each operator of the new query that
    of the old one whose state it has, None for an empty one; ``columns``: for an operator that keeps other columns, for each of them the place of
    the old one, None for one that begins empty; ``partitions``: into how many partitions the state is cut.
    """

    sources: Sequence[Source] | None = None
    operators: Mapping[int, int | None] | None = None
    partitions: int | None = None
    columns: Mapping[int, Sequence[int | None]] = field(default_factory=dict)


def derive(
    spark: SparkSession,
    old: str,
    new: str,
    batch: int,
    mapping: CheckpointMapping | None = None,
    *,
    record: QueryRecord | None = None,
    frame: DataFrame | None = None,
    mode: str = "append",
) -> None:
    """Make the checkpoint ``new`` from ``old`` as it was after micro-batch ``batch`` (see ``base``; -1 for before the first); both are URIs.

    What is in ``new`` is replaced. The old query must not run. ``record``: the old query's, needed where sources are mapped. ``frame``: what the
    query will be started with, in output ``mode``, where its plan is not the old one's; None for the same plan. Raises what Java meets.
    """
    mapping = mapping or CheckpointMapping()
    known = () if record is None else record.sources
    told: dict[str, Any] = {"partitions": mapping.partitions}
    if mapping.sources is not None:
        told["sources"] = [_source(source, known) for source in mapping.sources]
    if mapping.operators is not None:
        told["columns"] = {str(number): list(places) for number, places in mapping.columns.items()}
        told["operators"] = {str(number): before for number, before in mapping.operators.items()}
    derivation = classes(spark).checkpoints.Derivation
    derivation.derive(spark._jsparkSession, old, batch, new, json.dumps(told), None if frame is None else frame._jdf, mode)


def _source(source: Source, known: Sequence[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"name": source.name, "offset": source.offset}
    if source.positions:
        told["positions"] = {topic: dict(partitions) for topic, partitions in source.positions.items()}
    if source.moved is not None:
        told["moved"] = source.moved
    if source.old is not None:
        told |= {"from": source.old, "index": known.index(source.old)}
    return told
