"""The options of Iceberg tables, which are those of Iceberg's connector for Flink: of the catalog, of a table that is made, of a read."""

from __future__ import annotations

from sqlstream.core.options import Option, OptionKind, Role, Support

STREAMING, STRATEGY = "streaming", "starting-strategy"
STRATEGIES = (
    "incremental_from_latest_snapshot", "incremental_from_latest_snapshot_exclusive", "incremental_from_earliest_snapshot",
    "incremental_from_snapshot_id", "incremental_from_snapshot_timestamp", "table_scan_then_incremental",
)  # fmt: skip
UPSERT = "write.upsert.enabled"
_TRIGGER, _SPARK = "the job's trigger says how often it looks for new snapshots", "Spark plans the files that a task reads"
# What Iceberg's catalog is told. The first is ``type`` there.
CATALOG = (
    Option("catalog-type", OptionKind.STRING, "hive", "hadoop, hive, rest, glue, jdbc or nessie.", role=Role.PLACE),
    Option("catalog-impl", OptionKind.STRING, summary="The class of a catalog of your own, instead of catalog-type.", role=Role.PLACE),
    Option("uri", OptionKind.STRING, summary="The address of the metastore, or of the REST catalog.", role=Role.PLACE),
    Option("warehouse", OptionKind.STRING, role=Role.PLACE,
           summary="The folder of the tables; of type hadoop relative to the project. A REST catalog may have a name for it."),
    Option("io-impl", OptionKind.STRING, summary="The class that reads and writes files.", role=Role.TUNING),
    Option("clients", OptionKind.INT, summary="How many connections to the metastore there are.", role=Role.TUNING),
    Option("credential", OptionKind.STRING, summary="What a REST catalog gives a token for.", role=Role.TUNING),
    Option("token", OptionKind.STRING, summary="The token of a REST catalog.", role=Role.TUNING),
    Option("scope", OptionKind.STRING, summary="The scope of that token.", role=Role.TUNING),
    *(Option(f"{prefix}.*", OptionKind.STRING, summary=f"A setting of {what}.", role=Role.TUNING)
      for prefix, what in (("rest", "the REST catalog"), ("oauth2", "its login"), ("header", "its requests: a header"), ("s3", "Iceberg's S3 client"),
                           ("client", "Amazon's client"), ("jdbc", "the JDBC catalog"), ("nessie", "Nessie"), ("glue", "Glue"), ("lock", "locks"))),
    Option("oauth2-server-uri", OptionKind.STRING, summary="Where a REST catalog's token is from.", role=Role.TUNING),
    Option("prefix", OptionKind.STRING, summary="What the paths of a REST catalog begin with.", role=Role.PLACE),
)  # fmt: skip
# Properties of a table, which it has from when it is made.
TABLE = (
    Option("format-version", OptionKind.INT, "2", "The version of the table's format.", role=Role.TUNING, least=1),
    Option("location", OptionKind.STRING, summary="Where the table's files are, if not in the warehouse.", role=Role.TUNING),
    Option(UPSERT, OptionKind.BOOLEAN, "false", "A row that is added takes the place of the one with its PRIMARY KEY."),
    *(Option(f"{prefix}.*", OptionKind.STRING, summary="A property of the Iceberg table.", role=Role.TUNING)
      for prefix in ("write", "read", "commit", "history", "gc", "schema")),
)  # fmt: skip
# Where a read begins and ends.
BATCH_ONLY = ("snapshot-id", "as-of-timestamp", "tag", "end-snapshot-id")
STREAMING_ONLY = (STRATEGY, "start-snapshot-timestamp")
READ = (
    Option(STREAMING, OptionKind.BOOLEAN, "false", "Read the rows of new snapshots as they come; otherwise the table as it is.", role=Role.PLACE),
    Option(STRATEGY, OptionKind.ENUM, STRATEGIES[0], "Where a stream begins.", values=STRATEGIES),
    Option("start-snapshot-id", OptionKind.LONG, summary="The snapshot at which a stream begins; a batch has the rows that were added after it."),
    Option("start-snapshot-timestamp", OptionKind.LONG, summary="A stream begins with the first snapshot of this time or later, in milliseconds."),
    Option("end-snapshot-id", OptionKind.LONG, summary="The last snapshot whose rows a batch with start-snapshot-id has."),
    Option("snapshot-id", OptionKind.LONG, summary="Read this snapshot."),
    Option("as-of-timestamp", OptionKind.LONG, summary="Read the snapshot of this time, in milliseconds."),
    Option("tag", OptionKind.STRING, summary="Read the snapshot that has this tag."),
    Option("branch", OptionKind.STRING, summary="Read, or write, this branch.", role=Role.PLACE),
    Option("monitor-interval", OptionKind.DURATION, use=Support.NOTICE, why=_TRIGGER),
    Option("max-planning-snapshot-count", OptionKind.INT, use=Support.NOTICE, why=_TRIGGER),
    *(Option(key, OptionKind.LONG, use=Support.NOTICE, why=_SPARK) for key in ("split-size", "split-lookback", "split-file-open-cost")),
)  # fmt: skip
NAMESPACE = (
    Option("base-namespace", OptionKind.STRING, summary="A namespace, its levels separated by dots, in which the databases are.", role=Role.PLACE),
)
WITHOUT_EFFECT = (
    *(Option(key, OptionKind.STRING, use=Support.NOTICE, why="a table is read as it is when a query begins")
      for key in ("cache-enabled", "cache.expiration-interval-ms", "property-version")),
    *(Option(key, OptionKind.STRING, use=Support.REFUSED, why="Set spark.hadoop.* instead, as in spark.hadoop.fs.s3a.endpoint.")
      for key in ("hive-conf-dir", "hadoop-conf-dir")),
)  # fmt: skip
OPTIONS = (
    Option("catalog-name", OptionKind.STRING, required=True, summary="The name that Iceberg's catalog has.", role=Role.TUNING),
    *CATALOG,
    Option("catalog-database", OptionKind.STRING, summary="The database in that catalog; that of the declaration by default.", role=Role.PLACE),
    Option("catalog-table", OptionKind.STRING, summary="The table in that database; the name of the declaration by default.", role=Role.PLACE),
    *NAMESPACE,
    *TABLE,
    *READ,
    *WITHOUT_EFFECT,
)  # fmt: skip
