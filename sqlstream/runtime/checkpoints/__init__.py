"""Checkpoints made from others: a query goes on elsewhere, with other sources, other operators, another number of partitions.

In: the checkpoint of a query that does not run, records of what the queries read and keep. Out: a checkpoint of its own query id, in which one
micro-batch is committed: all that the other had done. Savepoints, upgrades and repaired offsets are all made so.
"""

from sqlstream.runtime.checkpoints.adapt import adapted, called, exchanged, why_not
from sqlstream.runtime.checkpoints.base import Base, base, behind
from sqlstream.runtime.checkpoints.derive import CheckpointMapping, Source, derive
from sqlstream.runtime.checkpoints.offset_log import read_offsets, shuffle_partitions
from sqlstream.runtime.checkpoints.records import OperatorRecord, QueryRecord, mapped, query_record
from sqlstream.runtime.checkpoints.tables import with_columns

__all__ = [
    "Base",
    "CheckpointMapping",
    "OperatorRecord",
    "QueryRecord",
    "Source",
    "adapted",
    "base",
    "behind",
    "called",
    "derive",
    "exchanged",
    "mapped",
    "query_record",
    "read_offsets",
    "shuffle_partitions",
    "why_not",
    "with_columns",
]
