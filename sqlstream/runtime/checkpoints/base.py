"""How far a query has come: the last micro-batch that counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Base:
    """``batch``: the last micro-batch that counts, -1 for none. ``doubtful``: the sink could not tell whether the one behind it has been written:
    its rows may come twice.
    """

    batch: int
    doubtful: bool = False


def standing(spark: SparkSession, checkpoint: str) -> tuple[str, int, int]:
    """What the logs of ``checkpoint``, a URI, say: the query's id, empty where there is none; the last micro-batch begun, and the last committed,
    -1 for none.
    """
    query, begun, committed = classes(spark).checkpoints.Derivation.standing(spark._jsparkSession, checkpoint)
    return str(query), int(begun), int(committed)


def behind(spark: SparkSession, checkpoint: str, landed: Callable[[str, int], bool | None]) -> int | None:
    """The last micro-batch, -1 for none, of the checkpoint, a URI, of a query that does not run now, where its table has one after that; else None.
    ``landed`` as of ``base``.
    """
    query, begun, _ = standing(spark, checkpoint)
    return begun if query and landed(query, begun + 1) else None


def base(spark: SparkSession, checkpoint: str, landed: Callable[[str, int], bool | None] = lambda query, batch: None) -> Base:
    """How far the query of ``checkpoint``, a URI, has come; it must not run.

    ``landed`` says of a query's id and the number of a micro-batch whether the sink has it, None where that can't be known. A micro-batch that was
    begun and not committed counts if it has landed: the state that belongs to it is there then.
    """
    query, begun, committed = standing(spark, checkpoint)
    if begun <= committed:
        return Base(committed)
    there = landed(query, begun)
    return Base(begun) if there else Base(committed, doubtful=there is None)
