"""The Spark session: started once, in the background, with the settings that Flink's meaning needs.

In: SET keys ``spark.*``, the project folder. Out: a SparkSession. Everything that pyspark prints goes to
``.sqlstream/log/spark.log`` of the project.
"""

from __future__ import annotations

import logging
import math
import os
import shlex
import sys
import threading
import time
import warnings
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from sqlstream.core import jars, private, spark_releases, trust, user_jars
from sqlstream.core.cores import cores
from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.core.java import classes, passed_over, require_java
from sqlstream.core.lines import Passing
from sqlstream.core.options import resolve_environment
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.secrets import SECRET
from sqlstream.runtime.engine import archive, jvm, own_jars, python_archives, submitted
from sqlstream.runtime.engine.failures import job_error, start_error
from sqlstream.runtime.engine.java_process import Death, JavaProcess
from sqlstream.runtime.engine.warm_up import warm_up
from sqlstream.runtime.java import EXTENSIONS, libraries
from sqlstream.runtime.monitor.figures import bar
from sqlstream.udf.worker import sources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark import SparkConf
    from pyspark.sql import SparkSession

# Flink's meaning depends on these: a user's value for one is refused.
FIXED = {
    # Every TIMESTAMP is carried as UTC; see sql/types.
    "spark.sql.session.timeZone": "UTC",
    # Integer arithmetic wraps and decimals overflow to NULL, as in Flink; what must fail raises by itself.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    # Spark would replace ${..} inside our generated SQL, user's strings included.
    "spark.sql.variable.substitute": "false",
    # Our own operators evaluate expressions that Spark's optimizer has not seen: NULLIF and its like must not share parts by its help.
    "spark.sql.alwaysInlineCommonExpr": "true",
    "spark.sql.legacy.sizeOfNull": "false",
    # LOWER and UPPER are Java's, as in Flink; ICU's would also cost two seconds when the first of them runs.
    "spark.sql.icu.caseMappings.enabled": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.streaming.multipleWatermarkPolicy": "min",
    # Sources are known by name in a checkpoint, so that one can be added.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # A kill in the midst of the first offsets leaves a part of them behind, which is no other query's: folders of jobs are nobody else's.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    "spark.sql.streaming.checkpointFileManagerClass": "sqlstream.storage.CheckpointFiles",
    "spark.sql.extensions": EXTENSIONS,
    # The plan says which queries run in real time.
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    # The last run of a job that is drained reads each source up to where that is then, whatever kind it is of.
    "spark.sql.streaming.triggerAvailableNowWrapper.enabled": "true",
}

# Where the release of Spark has Delta.
_DELTA = {
    "spark.sql.extensions": f"io.delta.sql.DeltaSparkSessionExtension,{EXTENSIONS}",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}

DEFAULTS = {
    "spark.app.name": "sqlstream",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Else each write to a state is a read first, to know how many rows it has.
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.adaptive.enabled": "true",
    # Spark's 64 are fewer than the partitions of a few queries: each micro-batch would close consumers and open others. Idle ones end by themselves.
    "spark.kafka.consumer.cache.capacity": "1000",
    # A consumer that is kept, and what it has fetched, take 10 MB of the heap. Spark keeps them for five minutes after a query has ended.
    "spark.kafka.consumer.cache.timeout": "30s",
    "spark.kafka.consumer.cache.evictorThreadRunInterval": "10s",
    "spark.kafka.consumer.fetchedData.cache.timeout": "30s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "10s",
    # HotSpot compiles no method above 8000 bytes; generated code that is longer runs faster through the interpreted operators.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.ui.explainMode": "simple",
    # Each broadcast, of which a micro-batch has several for its tasks, takes an array of this size; with Spark's 4 MB the collector marks the heap
    # once a second.
    "spark.broadcast.blockSize": "1m",
    # What Spark itself hides in its log and its plans.
    "spark.redaction.regex": f"(?i){SECRET.pattern}",
}
# Where the release has real time with state.
_STATEFUL = {
    # The files of a state have ids, for what was read in a micro-batch that failed is not read so again.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # Else a query without state writes its offsets at some time after its rows, and only Spark's own Kafka sink may be written so.
    "spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled": "false",
}
_REAL_TIME = {
    # How long a row waits for others on its way to the next operator.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
}
LOOPBACK = "127.0.0.1"
# What Spark is started with, in which ``${env:NAME}`` is a variable's value.
_REFERRING = ("spark.", "python.", "pipeline.jars")
# So often somebody who waits for Spark is told that it starts.
_TELL_SECONDS = 0.5
_USUAL_START_SECONDS = 8
# So long a JVM may take to end that answers no more.
_ENDING_SECONDS = 10
# HotSpot's second compiler takes half of the processor time of a start, for code that is soon idle: what it compiles is to be five times as hot.
# What a job runs for its rows is that after some milliseconds; not so in real time with state, where rows come one by one: at 10,000 a second they
# were late by 1.7 instead of 0.7 seconds (p95) in the second minute.
_HOTTER = (
    "-XX:Tier4InvocationThreshold=25000", "-XX:Tier4MinInvocationThreshold=3000", "-XX:Tier4CompileThreshold=75000",
    "-XX:Tier4BackEdgeThreshold=200000",
)  # fmt: skip
# Spark's parser and optimizer call themselves for each level of an expression; with Java's own 1 MB they end at two hundred.
_STACK = "-Xss64m"
# The collector marks the whole heap when an array of more than half a region is made, as Spark's of 1 MB are in regions of 1 or 2 MB.
_REGION = "-XX:G1HeapRegionSize=4m"


class Engine:
    """The Spark session of a sqlstream session; ``start`` returns at once, ``spark`` waits. ``options`` are asked for when it starts."""

    def __init__(self, project: Path, options: Callable[[], Mapping[str, str]], notify: Callable[[str], None], *, starts_anew: bool = False) -> None:
        """``starts_anew``: after its death Spark is started anew for the next that needs it, to whom the death is reported."""
        self.options = options
        self.starts_anew = starts_anew
        self._project = project
        self._logs = ProjectFolder(project).logs
        self._notify = notify
        self._session: Future[SparkSession] | None = None
        self._lock = threading.Lock()
        self._told: list[Callable[[str], None]] = []
        self._wanted = threading.Event()
        self._archive: Path | None = None
        self._process: JavaProcess | None = None
        self._gateway: Any = None
        self._death: Death | None = None
        self._stopping = False

    @property
    def started(self) -> bool:
        """Whether the start was asked for."""
        return self._session is not None

    def start(self, *, warm: bool = False) -> None:
        """Begin to start Spark, in the background; ``warm``: and, unless somebody waits for it, run a query that makes the first one faster."""
        with self._lock:
            if self._session is None:
                self._session = Future()
                threading.Thread(target=self._start, args=(self._session, warm), name="spark-start", daemon=True).start()

    @property
    def spark(self) -> SparkSession:
        """The session; waits for it, with a message. Raises SetupError, also again at the next call after a retry."""
        return self.awaited(self._notify)

    def awaited(self, notify: Callable[[str], None]) -> SparkSession:
        """The same; ``notify`` says that Spark starts."""
        if self._session is None and self._death is not None and not self.starts_anew:
            raise self._death.error()
        return self.again(notify)

    def explained(self, error: Exception) -> SqlStreamError:
        """What the JVM has thrown, as a user can read it."""
        return job_error(error)

    def again(self, notify: Callable[[str], None] | None = None) -> SparkSession:
        """The same, also after Spark's death: a new session where that is not the one that runs."""
        notify = notify or self._notify
        self._wanted.set()
        self.start()
        session = self._session
        assert session is not None
        if not session.done():
            self._tell_of_start(session, notify)
        try:
            spark = session.result()
        except SqlStreamError:
            with self._lock:
                # Another that has waited, too, may have begun a new start.
                self._session = None if self._session is session else self._session
            raise
        if self._process is not None and not _runs(spark):
            if not self._process.ended_within(_ENDING_SECONDS):
                # As where the cluster has gone away: nothing can be asked of the JVM any more.
                self._process.kill()
            self._lost(self._process.death or Death("Spark died: its context has stopped.", f"See spark.log in {self._logs}."))
            return self.again(notify) if self.starts_anew else self.awaited(notify)
        if self._process is None and not _runs(spark):
            raise JobFailed(submitted.ENDED, hint=submitted.HINT)
        return spark

    def _tell_of_start(self, session: Future[SparkSession], notify: Callable[[str], None]) -> None:
        """Show that Spark starts until it has; of several who wait for it and hear the same, the first is told."""
        with self._lock:
            if notify in self._told:
                return
            self._told.append(notify)
        try:
            notify("Waiting for Spark to start ...")
            began = time.monotonic()
            while not session.done():
                passed = time.monotonic() - began
                # How long it takes nobody knows: the bar fills ever more slowly.
                notify(Passing(f"Spark is starting  {bar(1 - math.exp(-passed / _USUAL_START_SECONDS))} {passed:.0f} s"))
                futures.wait([session], _TELL_SECONDS)
            notify(Passing())
        finally:
            with self._lock:
                self._told.remove(notify)

    def stop(self, seconds: float = 20) -> None:
        """Stop Spark and its JVM, where it was started, waiting so long for its end before it is killed."""
        self._stopping = True
        session, self._session = self._session, None
        if session is None:
            return
        if not session.done():
            self.kill()
        if session.exception() is not None:
            return
        if self._process is not None:
            with warnings.catch_warnings():
                # A JVM that is killed meanwhile does not stop in order.
                warnings.simplefilter("ignore", RuntimeWarning)
                with suppress(Py4JError, OSError):
                    session.result().stop()
            self._process.end(seconds)
            self._forget()
        else:
            session.result().stop()
        if self._archive is not None and archive.builds() and not archive.is_intact(self._archive):
            archive.build_later(self._archive)

    def kill(self) -> None:
        """End the JVM at once: what is asked of it fails."""
        self._stopping = True
        if self._process is not None:
            self._process.kill()

    def _start(self, session: Future[SparkSession], warm: bool) -> None:
        try:
            spark = self._build()
            session.set_result(spark)
            if self._process is not None and self._process.death is not None:
                self._died(self._process)
            if warm and not self._wanted.is_set():
                warm_up(spark, self._project)
        except Exception as error:
            if session.done():
                return  # while it was warmed up: what is asked of it next tells
            failure = error if isinstance(error, SqlStreamError) else start_error(error, self._logs)
            if self._process is not None:
                self._process.kill()
                self._forget()
            session.set_exception(failure)

    def _run_java(self, command: Sequence[str], environment: Mapping[str, str]) -> JavaProcess:
        if self._stopping:
            raise JobFailed("Spark was stopped while it started.")
        self._process = JavaProcess(command, environment, self._logs, self._died)
        if self._stopping:
            self._process.kill()
        return self._process

    def _died(self, process: JavaProcess) -> None:
        """The JVM has ended, and nobody had asked for it."""
        if process is self._process and process.death is not None:
            self._lost(process.death)

    def _lost(self, death: Death) -> None:
        """Let go of a session that can't be used any more. Where it still starts the start tells."""
        with self._lock:
            if self._session is None or not self._session.done():
                return
            self._death = death
            self._forget()
            self._session = None
        if self.starts_anew:
            self._notify(f"[ERROR] {death.message} The next statement that needs it starts it again. {death.hint}")

    def _forget(self) -> None:
        gateway, self._gateway = self._gateway, None
        if gateway is not None:
            jvm.forget(gateway)

    def _build(self) -> SparkSession:
        submission = submitted.configuration()
        users = resolve_environment(self.options(), _REFERRING)
        if submission is not None:
            users = submitted.joined(submission, users, fixed(users), frozenset({"spark.sql.extensions"}), self._notify)
        release = spark_releases.wanted(users)
        spark_releases.use(release, self._notify)
        here = python_archives.on_this_machine(users.get("spark.master", _master(release)))
        if here:
            unpacked = python_archives.unpacked(users, self._project)
            executable = python_archives.executable(users, unpacked)
        else:
            python_archives.archives(users)
            unpacked, executable = None, users.get("python.executable")
        java = require_java()
        if (notice := passed_over()) is not None:
            self._notify(f"[NOTICE] {notice}")
        # Those of a submission are on its class path.
        beside = [] if submission is not None else [*own_jars.of_sqlstream(users, self._notify), *user_jars.named(users, self._project)]
        if submission is not None and here:
            # The workers are this machine's, which has no folder for what executors unpack.
            executable = submission.get("spark.pyspark.driver.python")
        if executable:
            os.environ["PYSPARK_PYTHON"] = executable
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        log = self._logs / "spark.log"
        private.folder(log.parent)
        # pyspark repeats the errors that we show as structured log lines of its own, py4j those of a connection as traces.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        logging.getLogger().addFilter(_not_of_py4j)
        logging.getLogger("py4j").propagate = False
        settings = spark_conf(users, beside)
        if here:
            # Spark makes this folder even if nothing uses it; by default in the current folder.
            settings.setdefault("spark.sql.warehouse.dir", str(ProjectFolder(self._project).warehouse))
        if unpacked is not None:
            settings[f"spark.executorEnv.{sources.WORKING_DIRECTORY}"] = str(unpacked)
        java_options = [
            f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}",
            f"-Dsqlstream.log={log}",
            *([] if release.stateful_real_time else _HOTTER),
            _STACK,
            _REGION,
            *trust.options(java, jars.cache_dir()),
            *shlex.split(settings.get("spark.driver.extraJavaOptions", "")),
        ]
        local = _is_local(settings["spark.master"])
        alone = submission is None and local and jvm.without_launcher(users, os.environ)
        if alone:
            # Driver and executor are this JVM, which has them on its class path.
            del settings["spark.jars"]
        if submission is None:
            settings["spark.driver.extraJavaOptions"] = shlex.join(java_options)
        # Where the UI listens.
        environment = {"SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP") or settings["spark.driver.bindAddress"]} if local else {}
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        if submission is not None:
            gateway = SparkContext._gateway
        elif alone:
            archived = release.name == spark_releases.INSTALLED
            gateway = self._alone(java, beside, java_options, settings["spark.driver.memory"], log, environment, archived=archived)
        else:
            gateway = jvm.through_launcher(java, settings, java_options, environment, self._run_java)
        self._gateway = gateway

        conf = _conf(settings)
        jvm.remember_names()
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
        if self._process is not None:
            _end_by_want_of_memory(spark)
        if local:
            _use_local_files(spark)
        _close_callbacks(spark)
        # Spark makes what the state of streams reports to with its first stream; a changed job's state is read before that.
        _ = spark.streams
        return spark

    def _alone(
        self, java: Path, beside: list[Path], options: list[str], memory: str, log: Path, environment: Mapping[str, str], *, archived: bool
    ) -> Any:
        """The JVM, started without Spark's launcher; without the archive of its classes where it does not start with that, or none is kept."""
        sparks = libraries()
        class_path = jvm.class_path(sparks, beside)
        options = [*jvm.module_options(sparks), f"-XX:ErrorFile={log.with_name('hs_err_%p.log')}", *options]

        def start(options: list[str]) -> Any:
            home = {"SPARK_HOME": str(sparks[0].parent.parent)}
            return jvm.start(java, class_path, options, memory, {**environment, **home}, self._run_java)

        if not (archived and archive.enabled()):
            return start(options)
        self._archive = archive.archive_path(class_path)
        return archive.started(start, options, self._archive)


def _close_callbacks(spark: SparkSession) -> None:
    """Let no streaming query that has ended leave its connection to this process."""
    context = spark.sparkContext
    assert context._gateway is not None
    classes(spark).gateway.Callbacks.closeWhenQueriesEnd(context._jsc.sc(), context._gateway.java_gateway_server)


def _end_by_want_of_memory(spark: SparkSession) -> None:
    """A thread of Spark's own that has no memory ends the JVM, as a task's does: without that thread all others would wait for ever."""
    view = spark._jvm
    assert view is not None
    view.java.lang.Thread.setDefaultUncaughtExceptionHandler(view.org.apache.spark.util.SparkUncaughtExceptionHandler(False))
    # Of a JVM that has ended others tell.
    server: Any = spark.sparkContext._accumulatorServer
    server.handle_error = lambda *_: None


def _runs(spark: SparkSession) -> bool:
    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except (Py4JError, OSError):
        return False


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def _conf(settings: Mapping[str, str]) -> SparkConf:
    from pyspark import SparkConf

    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    return conf


def fixed(options: Mapping[str, str]) -> dict[str, str]:
    """What Flink's meaning depends on, in the release that ``options`` name."""
    release = spark_releases.wanted(options)
    return {**FIXED, **({} if "Delta" in release.lacks else _DELTA), **(_STATEFUL if release.stateful_real_time else {})}


def spark_conf(options: Mapping[str, str], beside: list[Path]) -> dict[str, str]:
    """Spark's configuration: defaults, the user's ``spark.*`` keys and ``parallelism.default``, then what is fixed.

    Raises ValidationError where the user sets a fixed key to something else.
    """
    users = {k: v for k, v in options.items() if k.startswith("spark.") and k != spark_releases.OPTION}
    needed = fixed(options)
    for key, value in users.items():
        if key in needed and key != "spark.sql.extensions" and value != needed[key]:
            raise ValidationError(f"'{key}' can't be set: sqlstream needs '{needed[key]}' to keep Flink's meaning.")
    release = spark_releases.wanted(options)
    conf = {**DEFAULTS, "spark.master": _master(release), **(_REAL_TIME if release.stateful_real_time else {}), **users}
    local = _is_local(conf["spark.master"])
    partitions = str(_local_partitions(conf["spark.master"])) if local else "200"
    conf.setdefault("spark.sql.shuffle.partitions", _parallelism(options) or partitions)
    if local:
        # Files are read in as many parts, however many slots there are.
        conf.setdefault("spark.sql.leafNodeDefaultParallelism", partitions)
        # With the heartbeat come the figures of the tasks that run.
        conf.setdefault("spark.executor.heartbeatInterval", "1s")
        # Nobody else is to speak to it.
        conf.setdefault("spark.driver.bindAddress", LOOPBACK)
        conf.setdefault("spark.driver.host", LOOPBACK)
        conf.setdefault("spark.authenticate", str(not conf["spark.master"].startswith("local-cluster")).lower())
    else:
        # Tasks read expressions as deep from the driver.
        conf["spark.executor.extraJavaOptions"] = " ".join(filter(None, [_STACK, users.get("spark.executor.extraJavaOptions")]))
    extensions = [e for e in (needed["spark.sql.extensions"], users.get("spark.sql.extensions")) if e]
    conf.update(needed)
    conf["spark.sql.extensions"] = ",".join(dict.fromkeys(extensions))
    shipped = None if python_archives.on_this_machine(conf["spark.master"]) else options.get("python.archives")
    if "spark.delta.logStore.class" not in conf:
        # Delta's own lets writers of two processes overwrite each other's commits.
        conf.setdefault("spark.delta.logStore.s3a.impl", "sqlstream.files.S3LogStore")
    if archives := [*filter(None, [shipped, users.get("spark.archives")])]:
        conf["spark.archives"] = ",".join(archives)
    conf["spark.jars"] = ",".join([*(str(j) for j in beside), *filter(None, [users.get("spark.jars")])])
    return conf


def _parallelism(options: Mapping[str, str]) -> str | None:
    return options.get("table.exec.resource.default-parallelism") or options.get("parallelism.default")


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _master(release: spark_releases.Release) -> str:
    """Where Spark runs if nobody says it: on this machine."""
    return f"local[{release.slots * cores()}]"


def _local_partitions(master: str) -> int:
    """Of a shuffle on this machine: one for each slot that can have a core of its own. In real time there are more, which wait."""
    inside = master.partition("[")[2].rstrip("]").split(",")[0]
    return min(int(inside), cores()) if inside.isdigit() else cores()


def _use_local_files(spark: SparkSession) -> None:
    """Let Spark write local files, its checkpoints above all, without starting a process for each. Only where driver and executors are one JVM."""
    classes(spark).files.LocalFiles.install(spark.sparkContext._jsc.hadoopConfiguration())
