"""Which failures of Spark, Delta, Kafka, JDBC, Hadoop and Java may be over after a while, and which lie in the data, the statement or a table.

A job that has failed is started again after the first kind, and has failed for good after the second. In: the exceptions that are behind a failure.
They are known by their condition (Spark's and Delta's own names of errors, with or without the part after the dot), else by their class or one above
it, else by their SQLSTATE or its class, its first two characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FILTER = "Rows that may not be written can be left out with WHERE. The job then continues."
_COMMITS = (
    "'skipChangeCommits' = 'true' leaves out commits that change or delete rows, 'ignoreDeletes' = 'true' those that delete whole partitions;"
    " 'mode' = 'changes' reads what they change."
)
_KEPT = "The page of `sqlstream serve` lists a table's versions, as DESCRIBE HISTORY does in Spark. VACUUM deletes the files of old ones."
_ANEW = "Declare the table with the columns that it has now. Submit the statement again: a job whose source has other columns is judged anew."


DAMAGED = "Put the job's folder back from a copy, or begin with a savepoint. DROP JOB forgets the job: it begins anew, and writes its rows again."
# How it is said that a file of a state is missing or another one.
_DAMAGES = (
    "AUTO_SNAPSHOT_REPAIR_FAILED", "CANNOT_FIND_BASE_SNAPSHOT_CHECKPOINT", "CANNOT_READ_CHECKPOINT", "CANNOT_READ_DELTA_FILE_KEY_SIZE",
    "CANNOT_READ_DELTA_FILE_NOT_EXISTS", "CANNOT_READ_MISSING_SNAPSHOT_FILE", "CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE",
    "CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE", "CANNOT_READ_STREAMING_STATE_FILE", "INVALID_CHANGE_LOG_READER_VERSION",
    "INVALID_CHANGE_LOG_WRITER_VERSION", "INVALID_CHECKPOINT_LINEAGE", "KEY_ROW_FORMAT_VALIDATION_FAILURE", "SNAPSHOT_PARTITION_ID_NOT_FOUND",
    "UNEXPECTED_FILE_SIZE", "VALUE_ROW_FORMAT_VALIDATION_FAILURE",
)  # fmt: skip


@dataclass(frozen=True)
class Cause:
    """An exception: the names of its classes, most specific first, and its condition and SQLSTATE where it has such."""

    classes: tuple[str, ...] = ()
    condition: str | None = None
    state: str | None = None


@dataclass(frozen=True)
class Known:
    """``heals``: whether it may be over after a while; None where only its causes say so. ``hint``: what to do; ``advice``: how the part of its own
    message begins that says so to users of DataFrames.
    """

    heals: bool | None
    hint: str | None = None
    advice: str | None = None


HEALS, LASTS, WRAPS = Known(True), Known(False), Known(None)
CONDITIONS: Mapping[str, Known] = {
    # What has failed because of something else, which stands behind it.
    "FOREACH_BATCH_USER_FUNCTION_ERROR": WRAPS,
    "FOREACH_USER_FUNCTION_ERROR": WRAPS,
    "TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR": WRAPS,
    "STREAM_FAILED": WRAPS,
    "TASK_WRITE_FAILED": WRAPS,
    "FAILED_JDBC": WRAPS,
    "DATA_SOURCE_EXTERNAL_ERROR": WRAPS,
    "FAILED_EXECUTE_UDF": WRAPS,
    "STAGE_MATERIALIZATION_MULTIPLE_FAILURES": WRAPS,
    "DELTA_POST_COMMIT_HOOK_FAILED": WRAPS,
    # Rows that a table does not take.
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED": Known(False, f"The table has NOT NULL for this column. {_FILTER}"),
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES": Known(False, _FILTER),
    "DELTA_EXCEED_CHAR_VARCHAR_LIMIT": Known(False, _FILTER),
    "DELTA_METADATA_MISMATCH": Known(
        False, "Declare the columns that the table has; one that is declared besides is added when the job begins.", "To enable schema migration"
    ),
    "DELTA_CANNOT_MODIFY_APPEND_ONLY": Known(
        False, "By a PRIMARY KEY rows are replaced and deleted: write into a table without 'delta.appendOnly'.", "If you would like"
    ),
    "DELTA_MISSING_DELTA_TABLE": Known(
        False, "It was deleted. A job that writes into it makes it anew when its statement is submitted again: it gets the rows since then."
    ),
    # Times and versions that a table has not, or not any more.
    "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION": Known(False, _KEPT, "Please use a timestamp"),
    "DELTA_TIMESTAMP_GREATER_THAN_COMMIT": Known(False, "A table can be read as of a time that is over.", "Use a timestamp"),
    "DELTA_VERSION_NOT_FOUND": Known(False, _KEPT),
    # Tables that change under who reads them. A query that begins again takes columns that were added.
    "DELTA_SOURCE_IGNORE_DELETE": Known(False, _COMMITS, "If you'd like to"),
    "DELTA_SOURCE_TABLE_IGNORE_CHANGES": Known(False, _COMMITS, "If this is going to happen"),
    "DELTA_SCHEMA_CHANGED": Known(True, _ANEW, "Please try"),
    "DELTA_SCHEMA_CHANGED_WITH_VERSION": Known(True, _ANEW, "Please try"),
    "DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS": Known(True, _ANEW, "Please try"),
    "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS": Known(True, _ANEW),
    "DELTA_STREAMING_SCHEMA_MISMATCH_ON_RESTART": Known(True, _ANEW, "Please create a new streaming DataFrame"),
    "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION": Known(False, _ANEW, "Please check if"),
    "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE": Known(False, _ANEW, "For further information"),
    "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG": Known(False, _ANEW, "Please provide"),
    # State and checkpoints that are not what the query needs, or are damaged.
    "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED": LASTS,
    "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY": Known(False, DAMAGED),
    "STATE_STORE_INVALID_VALUE_SCHEMA_EVOLUTION": LASTS,
    "STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE": LASTS,
    "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE": LASTS,
    "STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED": LASTS,
    "STATE_STORE_UNSUPPORTED_OPERATION": LASTS,
    "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE": LASTS,
    "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE": LASTS,
    **dict.fromkeys((f"CANNOT_LOAD_STATE_STORE.{part}" for part in _DAMAGES), Known(False, DAMAGED)),
    # A file that is damaged, where nothing else is behind it.
    "FAILED_READ_FILE": LASTS,
}  # fmt: skip
CLASSES: Mapping[str, Known] = {
    # Kafka. Who may not write or read can be allowed to.
    "org.apache.kafka.common.errors.RetriableException": HEALS,
    "org.apache.kafka.common.errors.AuthenticationException": HEALS,
    "org.apache.kafka.common.errors.AuthorizationException": HEALS,
    "org.apache.kafka.common.errors.RecordTooLargeException": Known(
        False, "'properties.max.request.size' says how large a record may be for this job, the topic's max.message.bytes for the broker."
    ),
    "org.apache.kafka.common.errors.RecordBatchTooLargeException": Known(
        False,
        "The topic's max.message.bytes says how large a batch may be for the broker, 'properties.batch.size' how large this job makes it.",
    ),
    "org.apache.kafka.common.errors.InvalidTopicException": LASTS,
    "org.apache.kafka.common.errors.SerializationException": LASTS,
    "org.apache.kafka.common.errors.UnsupportedVersionException": LASTS,
    # JDBC.
    "java.sql.SQLTransientException": HEALS,
    "java.sql.SQLRecoverableException": HEALS,
    "java.sql.SQLNonTransientConnectionException": HEALS,
    "java.sql.SQLInvalidAuthorizationSpecException": HEALS,
    "java.sql.SQLNonTransientException": LASTS,
    # Hadoop and networks. A quota can be raised, a name node leaves its safe mode.
    "org.apache.hadoop.hdfs.protocol.ClusterStorageCapacityExceededException": HEALS,
    "org.apache.hadoop.hdfs.server.namenode.SafeModeException": HEALS,
    "org.apache.hadoop.ipc.RetriableException": HEALS,
    "org.apache.hadoop.ipc.StandbyException": HEALS,
    "org.apache.hadoop.fs.UnsupportedFileSystemException": LASTS,
    "software.amazon.awssdk.core.exception.SdkClientException": HEALS,
    "software.amazon.awssdk.core.exception.SdkServiceException": HEALS,
    "java.net.SocketException": HEALS,
    "java.net.SocketTimeoutException": HEALS,
    "java.net.UnknownHostException": HEALS,
    "java.util.concurrent.TimeoutException": HEALS,
    # What a row can't be computed with.
    "java.lang.ArithmeticException": LASTS,
    "java.lang.ClassCastException": LASTS,
    "java.lang.IndexOutOfBoundsException": LASTS,
    "java.lang.NumberFormatException": LASTS,
    "java.lang.UnsupportedOperationException": LASTS,
    "java.time.DateTimeException": LASTS,
}
# The longest that fits counts. The classes are those of ISO 9075, PostgreSQL, Spark and Delta.
STATES: Mapping[str, Known] = {
    "02": LASTS, "03": LASTS, "07": LASTS, "08": HEALS, "0A": LASTS, "0B": LASTS, "20": LASTS, "21": LASTS, "22": LASTS, "23": LASTS, "24": LASTS,
    # A transaction that may not write is met after a failover.
    "25": HEALS, "26": LASTS, "28": HEALS, "2B": LASTS, "2D": HEALS, "38": LASTS, "39": LASTS, "3D": LASTS, "3F": LASTS, "40": HEALS, "42": LASTS,
    "44": LASTS, "46": LASTS, "51": LASTS, "53": HEALS, "54": LASTS, "55": LASTS, "55006": HEALS, "55P03": HEALS, "56": LASTS, "57": HEALS,
    "58": HEALS, "82": HEALS, "F0": LASTS, "HV": LASTS, "HY": HEALS, "KD": LASTS, "P0": LASTS, "XX": HEALS,
}  # fmt: skip


def known(causes: Sequence[Cause]) -> Known:
    """What is known of a failure that has these ``causes``, outermost first: the innermost that says something counts."""
    return next((found for cause in reversed(causes) if (found := _of(cause)).heals is not None), WRAPS)


def _of(cause: Cause) -> Known:
    if cause.condition is not None:
        for name in (cause.condition, cause.condition.partition(".")[0]):
            if name in CONDITIONS:
                return CONDITIONS[name]
    for name in cause.classes:
        if name in CLASSES:
            return CLASSES[name]
    state = cause.state or ""
    return next((STATES[state[:length]] for length in (5, 2) if state[:length] in STATES), WRAPS)
