"""The SET keys: what each is and what sqlstream does with it. Unknown keys are stored and listed, as Flink does; a misspelt one is refused.

A key that ends in ``*`` stands for all keys with that beginning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.core.known_keys import intended_key
from sqlstream.core.options import Option, OptionKind, Support, parse_value

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENUM, _BOOL, _INT, _TIME = OptionKind.ENUM, OptionKind.BOOLEAN, OptionKind.INT, OptionKind.DURATION


def _quiet(key: str, why: str) -> Option:
    return Option(key, use=Support.NOTICE, why=why)


def _refused(key: str, why: str, kind: OptionKind = OptionKind.STRING, default: str | None = None, values: tuple[str, ...] = ()) -> Option:
    """A key that is taken with Flink's ``default`` alone."""
    return Option(key, kind, default, values=values, use=Support.REFUSED, why=why)


# As Flink's client names them.
EDIT_MODE = "sql-client.edit-mode"
# Rows over several lines: on, off, or auto, where a table has no room.
EXPANDED = "sql-client.display.expanded"
STATUS_BAR = "sql-client.display.status-bar"
COLOUR_SCHEMA = "sql-client.display.color-schema"
COLOUR_SCHEMAS = ("default", "dark", "light", "chester", "vs2010", "obsidian", "geshi")
SPARK_DOES = "Spark does this in its own way."
_AT_CLOSE = "Windows emit their rows when they close."
SETTINGS: tuple[Option, ...] = (
    Option("sql-client.execution.result-mode", _ENUM, "table", "How a SELECT shows its rows.", values=("table", "changelog", "tableau")),
    Option("sql-client.execution.max-table-result.rows", _INT, "1000000", "How many rows a result keeps."),
    Option("sql-client.display.max-column-width", _INT, "30", "Columns of a result that are wider than this are truncated."),
    Option(EXPANDED, _ENUM, "auto", "Whether each column of a row has a line of its own in a terminal; auto:"
           " where a table is wider than it.", values=("auto", "on", "off")),
    Option("sql-client.display.print-time-cost", _BOOL, "true", "Print how long a query took."),
    Option(STATUS_BAR, _BOOL, "true", "Whether the prompt has a status bar below it."),
    Option(COLOUR_SCHEMA, _ENUM, "default", "The prompt's colours; default takes the terminal's.", values=COLOUR_SCHEMAS),
    Option(EDIT_MODE, _ENUM, "emacs", "Keys of the prompt: HELP KEYS.", values=("emacs", "vi")),
    Option("sql-client.verbose", _BOOL, "false", "Print the full stack trace of an error."),
    Option("table.display.max-column-width", _INT, "30", "As sql-client.display.max-column-width."),
    Option("sql-gateway.session.idle-timeout", _TIME, "10 min", "After how long the server closes a session that nobody uses; 0 means never."),
    Option("sql-gateway.session.max-num", _INT, "1000000", "How many sessions the server has at most."),
    Option("execution.runtime-mode", _ENUM, "streaming", "Whether a query runs as a stream or once.", values=("streaming", "batch")),
    Option("execution.checkpointing.interval", _TIME, None, "The shortest time between two micro-batches; each is a checkpoint."),
    Option("execution.real-time", _ENUM, "auto", "Whether rows go through a query one by one, in milliseconds, and not by micro-batches;"
           " auto: where the query can, and Spark has slots for it beside one for each core. Offsets are written down every"
           " execution.checkpointing.interval, 60 s where that is not set.", values=("auto", "true", "false")),
    Option("execution.checkpointing.dir", OptionKind.STRING, None, "Where jobs keep offsets, state and versions, in the folder jobs of it: a folder,"
           " or a URI of hdfs, s3a, abfss, gs; .sqlstream of the project where none is set."),
    Option("state.checkpoints.dir", OptionKind.STRING, None, "As execution.checkpointing.dir."),
    Option("execution.checkpointing.num-retained", _INT, None, "How many micro-batches of a job keep their checkpoint; 100 where nothing is set."),
    Option("state.checkpoints.num-retained", _INT, None, "As execution.checkpointing.num-retained."),
    Option("execution.upgrade-mode", _ENUM, None, "What becomes of a stopped job whose statement has changed, which is refused otherwise:"
           " last-state keeps offsets and state, and refuses what would lose state; stateless keeps offsets; from-start begins anew, from where"
           " the options of its sources say.",
           values=("last-state", "stateless", "from-start")),
    Option("execution.checkpointing.savepoint-dir", OptionKind.STRING, None, "Where savepoints are made; savepoints of"
           " execution.checkpointing.dir where none is set."),
    Option("state.savepoints.dir", OptionKind.STRING, None, "As execution.checkpointing.savepoint-dir."),
    Option("execution.state-recovery.path", OptionKind.STRING, None, "The savepoint with which the next jobs begin."),
    Option("execution.savepoint.path", OptionKind.STRING, None, "As execution.state-recovery.path."),
    _quiet("execution.state-recovery.claim-mode", "a savepoint is copied, and stays."),
    Option("execution.state-recovery.ignore-unclaimed-state", _BOOL, "false", "Whether an upgrade with last-state may lose state that the new plan"
           " has no operator for."),
    Option("pipeline.name", OptionKind.STRING, None, "The name of the next jobs, by which they are known."),
    Option("pipeline.global-job-parameters", OptionKind.MAP, "", "Parameters that open() of a Python function can ask for: 'key:value,key:value'."),
    Option("udf.on-error", _ENUM, "fail", "What an error in a Python function does: fails the job, or keeps the row in .sqlstream/dead-letters.",
           values=("fail", "dead-letter")),
    Option("python.files", OptionKind.NAMES, "", "Python files with functions, and folders of them, in addition to udfs/."),
    Option("python.archives", OptionKind.NAMES, "", "Archives that Spark's Python workers unpack, as name.zip#folder; set it before Spark starts."),
    Option("python.executable", OptionKind.STRING, None, "The Python executable of Spark's workers; set it before Spark starts."),
    _refused("python.requirements", "Pack an environment with them, as venv-pack does: python.archives, python.executable."),
    _quiet("python.*", "functions run in Spark's Python workers."),
    Option("pipeline.jars", OptionKind.STRING, None, "Jars on Spark's class path, with ; between them; set it before Spark starts."),
    Option("parallelism.default", _INT, None, "How many partitions a shuffle has; set it before Spark starts."),
    Option("table.exec.resource.default-parallelism", _INT, None, "As parallelism.default."),
    Option("table.local-time-zone", OptionKind.STRING, "default", "The time zone of TIMESTAMP_LTZ; by default the machine's."),
    Option("table.dml-sync", _BOOL, "false", "Whether INSERT waits until its job has finished."),
    Option("table.sql-dialect", _ENUM, "default", "The SQL dialect.", values=("default",)),
    Option("table.dynamic-table-options.enabled", _BOOL, "true", "Whether the OPTIONS hint is allowed."),
    Option("table.exec.sink.not-null-enforcer", _ENUM, "error", "What a NULL for a NOT NULL column causes.", values=("error", "drop")),
    Option("table.exec.sink.require-on-conflict", _BOOL, None, "Whether an INSERT, of which two rows may meet at one primary key of its sink, is"
           " refused without ON CONFLICT, as by Flink 2.3. Where this is not set a notice says so."),
    Option("table.exec.sink.type-length-enforcer", _ENUM, "ignore", "What happens to a CHAR or VARCHAR that is too long.", values=("ignore",)),
    _refused("table.exec.sink.nested-constraint-enforcer",
             "Values inside a row, an array or a map are not checked, as with Flink's default, IGNORE; make columns of such fields.",
             _ENUM, "ignore", ("ignore", "rows", "rows_and_collections")),
    Option("table.exec.mini-batch.allow-latency", _TIME, None, "The shortest time between two micro-batches."),
    Option("table.exec.source.idle-timeout", _TIME, "0 ms", "A partition without records for this long no longer holds the watermark back."),
    Option("table.warehouse", OptionKind.STRING, None, "Where relative paths of tables begin, a folder or a URI; `warehouse` in sqlstream.toml. The"
           " project's folder where none is set."),
    Option("table.exec.source.max-future-rowtime", _TIME, "0 ms", "Rows of a stream whose rowtime is further ahead of the clock are left out, and"
           " kept in .sqlstream/dead-letters: the watermark would follow them. 0 for none."),
    Option("table.exec.dead-letter", OptionKind.STRING, None, "A table that gets what a query leaves out, instead of failing: records that can't be"
           " read, rows for which a function fails, NULLs for NOT NULL columns, rows of the far future."),
    Option("table.exec.source.cdc-events-duplicate", _BOOL, "false", "Whether changelogs may contain a change twice; needs a PRIMARY KEY."),
    Option("table.exec.mini-batch.enabled", _BOOL, "false", "Whether several changes of a row become one. It keeps a query from real time,"
           " unless execution.real-time is 'true'. Every micro-batch is a mini-batch."),
    _quiet("table.exec.mini-batch.size", "a micro-batch takes what has arrived."),
    Option("table.exec.state.ttl", _TIME, "0 ms", "How long the state of a key is kept after its last row, outside windows; 0: forever."),
    Option("table.exec.async-scalar.max-concurrent-operations", _INT, "10", "How many calls of an async function in Python run at the same time."),
    Option("table.exec.async-scalar.timeout", _TIME, "3 min", "How long a call of an async function may take, all attempts included."),
    Option("table.exec.async-scalar.retry-strategy", _ENUM, "fixed_delay", "Whether it is called again.", values=("no_retry", "fixed_delay")),
    Option("table.exec.async-scalar.retry-delay", _TIME, "100 ms", "The time between two attempts of a call."),
    Option("table.exec.async-scalar.max-attempts", _INT, "3", "The attempts after which a call has failed, and its job."),
    _refused("table.exec.emit.early-fire.enabled", _AT_CLOSE, _BOOL, "false"),
    _refused("table.exec.emit.early-fire.delay", _AT_CLOSE, _TIME),
    _refused("table.exec.emit.late-fire.enabled", _AT_CLOSE, _BOOL, "false"),
    _refused("table.exec.emit.late-fire.delay", _AT_CLOSE, _TIME),
    _refused("table.exec.emit.allow-lateness", "Rows for a closed window are dropped, as with Flink's default.", _TIME, "0 ms"),
    _refused("table.exec.legacy-cast-behaviour", "A CAST that fails fails the job, as with Flink's default; TRY_CAST returns NULL.",
             _ENUM, "disabled", ("enabled", "disabled")),
    _quiet("table.optimizer.*", SPARK_DOES),
    _quiet("table.exec.*", SPARK_DOES),
    _quiet("execution.*", SPARK_DOES),
    _quiet("state.*", "state is kept in RocksDB, and in the job's folder."),
    Option("restart-strategy.type", _ENUM, "exponential-delay", "When a streaming job that has failed is started again from its checkpoint.",
           values=("exponential-delay", "exponentialdelay", "fixed-delay", "fixeddelay", "failure-rate", "failurerate", "none", "off", "disable")),
    Option("restart-strategy.exponential-delay.initial-backoff", _TIME, "1 s", "The time before the first restart."),
    Option("restart-strategy.exponential-delay.max-backoff", _TIME, "1 min", "The longest time before a restart."),
    Option("restart-strategy.exponential-delay.backoff-multiplier", OptionKind.DOUBLE, "1.5", "What the time is multiplied by after each failure."),
    Option("restart-strategy.exponential-delay.reset-backoff-threshold", _TIME, "1 h", "A job that runs so long begins with the first time again."),
    Option("restart-strategy.exponential-delay.jitter-factor", OptionKind.DOUBLE, "0.1", "How much the time varies at random; 0.1: by 10 %."),
    Option("restart-strategy.exponential-delay.attempts-before-reset-backoff", _INT, str(2**31 - 1), "The job is given up after so many restarts"
           " without such a time between them."),
    Option("restart-strategy.fixed-delay.attempts", _INT, "1", "How many restarts there are."),
    Option("restart-strategy.fixed-delay.delay", _TIME, "1 s", "The time before a restart."),
    Option("restart-strategy.failure-rate.max-failures-per-interval", _INT, "1", "A job that fails more often within the interval is given up."),
    Option("restart-strategy.failure-rate.failure-rate-interval", _TIME, "1 min", "The interval of max-failures-per-interval."),
    Option("restart-strategy.failure-rate.delay", _TIME, "1 s", "The time before a restart."),
    Option("alert.to", OptionKind.STRING, None, "Who hears of a job that fails, and of what the options alert.* name: a command, which gets it as"
           " JSON on stdin, or an address, https://.., to which it is sent. ${env:NAME} is a variable of the environment."),
    Option("alert.restarts", _INT, "3", "A job that was started again more often within an hour is told of.", least=0),
    Option("alert.lag", OptionKind.LONG, None, "A job for which more records wait is told of.", least=0),
    Option("alert.quiet", _TIME, None, "A job that has read no row for so long is told of."),
    Option("lineage.url", OptionKind.STRING, None, "An address to which events of OpenLineage about jobs are sent, such as http://marquez:5000."),
    Option("lineage.file", OptionKind.STRING, None, "A file to which these events are appended, one in a line."),
    Option("lineage.namespace", OptionKind.STRING, "sqlstream", "The namespace that jobs have in these events."),
    Option("lineage.api-key", OptionKind.STRING, None, "The key with which they are sent to lineage.url, as ${env:NAME}, a variable of the"
           " environment."),
    Option("metrics.reporter.prom.port", OptionKind.PORTS, None, "Where Prometheus finds metrics of the jobs of a process; the first free port"
           " of a range such as 9250-9260."),
    Option("metrics.reporter.prom.host", OptionKind.STRING, "127.0.0.1", "The address of that port; 0.0.0.0 lets other machines ask."),
    Option("metrics.reporter.prom.factory.class", _ENUM, None, "As Flink has it: metrics.reporter.prom.port is enough.",
           values=("org.apache.flink.metrics.prometheus.prometheusreporterfactory",)),
    _quiet("pipeline.*", SPARK_DOES),
    _quiet("parallelism.*", SPARK_DOES),
    *(_quiet(f"{p}.*", SPARK_DOES) for p in ("taskmanager", "jobmanager", "rest", "yarn", "kubernetes", "high-availability", "metrics", "env.java")),
    Option("kafka.bootstrap.servers", OptionKind.STRING, None, "The brokers of PEEK and INFER, for topics that no table names."),
    Option("schema-registry.url", OptionKind.STRING, None, "The schema registry of INFER, for topics that no table names."),
    Option("spark.version", _ENUM, "4.2", "The release of Spark. 4.3 is fetched when it is first asked for; it has no Delta tables, and runs"
           " queries with state in real time, too. Set it before Spark starts.", values=("4.2", "4.3")),
    Option("spark.*", OptionKind.STRING, None, "Passed on to Spark, when it starts."),
)  # fmt: skip


def setting(key: str) -> Option | None:
    """The declaration of ``key``; None for an unknown key."""
    exact = next((o for o in SETTINGS if o.key == key), None)
    return exact or next((o for o in SETTINGS if o.key.endswith("*") and key.startswith(o.key[:-1])), None)


def is_unknown(key: str) -> bool:
    """Whether no option is called ``key``; those of Spark are passed on as they are."""
    return not key.startswith("spark.") and setting(key) is None


def misspelt(key: str) -> str | None:
    """The option that ``key`` misspells; None if it misspells none."""
    declared = setting(key)
    if declared is not None and (declared.key == key or declared.use is Support.REFUSED):
        return None
    return intended_key(key, tuple(o.key for o in SETTINGS if not o.key.endswith("*")))


def check(key: str, value: str, *, at: Any = None, key_at: Any = None) -> str | None:
    """Check a SET, whose value is ``at``; the notice for a key without effect, None otherwise. Raises ValidationError, also for a misspelt key,
    NotSupported.
    """
    declared = setting(key)
    if (other := misspelt(key)) is not None:
        if key.startswith("spark."):
            return f"Spark has no option '{key}'; did you mean '{other}'? It is passed on as it is."
        hint = f"Did you mean '{other}'? Flink accepts any key; one that it does not know has no effect."
        raise ValidationError(f"There is no option '{key}'.", at=key_at, hint=hint)
    if declared is None:
        return f"No option is called '{key}': it has no effect." if is_unknown(key) else None
    if key == "table.sql-dialect" and value.lower() == "hive":
        raise NotSupported("The Hive dialect is not supported.", at=at, hint="Write the statements in Flink SQL.")
    if declared.use is Support.NOTICE:
        return f"SET '{key}' has no effect: {declared.why}"
    try:
        typed = parse_value(declared, value)
    except ValueError as error:
        raise ValidationError(f"Invalid value for '{key}': {error}.", at=at, hint=did_you_mean(value, declared.values)) from None
    if declared.use is Support.REFUSED and (declared.default is None or typed != parse_value(declared, declared.default)):
        raise NotSupported(f"SET '{key}' is not supported.", at=at, hint=declared.why)
    return None


def read(options: Mapping[str, str], key: str) -> Any:
    """The typed value of ``key``, or its default; None where there is neither."""
    declared = setting(key)
    assert declared is not None, key
    text = options.get(key, declared.default)
    return None if text is None else parse_value(declared, text)
