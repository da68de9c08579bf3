"""The statements as data: HELP lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A statement: how it is written and what it does. ``[ ]`` may be left out, ``|`` is a choice."""

    syntax: str
    summary: str


@dataclass(frozen=True)
class Group:
    """Commands that belong together."""

    title: str
    commands: tuple[Command, ...]


COMMANDS = (
    Group("Shell", (
        Command("HELP [topic]", "Lists the statements and topics, or explains one: HELP TUMBLE, HELP CONNECTOR kafka."),
        Command("QUIT | EXIT", "Ends the shell; its jobs are stopped, after a question, and go on when they are submitted again."),
        Command("CLEAR", "Clears the screen."),
        Command("SOURCE 'file'", "Runs the statements of a file."),
        Command("SHOW QUERIES [[NOT] LIKE 'pattern']", "Lists the saved queries, their parameters and the questions that they answer."),
        Command("EXECUTE QUERY name [(parameter => value, ...)]", "Runs a saved query."),
        Command("PEEK 'topic' [LIMIT n]", "Shows the last records of a Kafka topic, without a table of it; a terminal cuts them to its width."),
        Command("INFER TABLE [table] FROM 'topic' [SAVE]", "Proposes a CREATE TABLE from a sample of a topic; SAVE keeps it in catalog/."),
        Command("EXPORT LAST TO 'file' [FORMAT CSV | JSON | PARQUET] [OVERWRITE]", "Writes the last SELECT's rows to a new file, or over one."),
        Command("PLOT [column [BY key]]", "Draws a chart of the last SELECT's rows in characters."),
        Command("SET ['key' = 'value']", "Sets an option; without one, lists those that are set."),
        Command("RESET ['key']", "Takes an option, or all of them, back to the default."),
    )),
    Group("Queries", (
        Command("[WITH name AS (query)] SELECT ...", "Runs a query and shows its rows as they come; Ctrl-C ends it."),
        Command("VALUES (value, ...), ...", "Shows rows that are written out."),
        Command("EXPLAIN [CHANGELOG_MODE | ESTIMATED_COST] query", "Shows the plan of a query or an INSERT."),
    )),
    Group("Jobs", (
        Command("INSERT INTO table [(columns)] query", "Submits a job that writes a query's rows to a table."),
        Command("INSERT OVERWRITE table query", "Replaces a table's rows (batch mode)."),
        Command("EXECUTE STATEMENT SET BEGIN insert; ... END", "Submits several INSERTs as one job."),
        Command("BEGIN STATEMENT SET; insert; ... END", "The same, statement by statement."),
        Command("SHOW JOBS | DESCRIBE JOB [EXTENDED] 'id'", "Lists the jobs, or shows one; EXTENDED: by partition, watermark and filter."),
        Command("SHOW JOB METRICS", "What the jobs do: rows in and out, lag, watermark, state, late rows; live in a terminal."),
        Command("EXPLAIN JOB ['id']", "Says in words why a job gives no output, or no more of it."),
        Command("STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]", "Stops a job; with DRAIN its open windows fire first."),
    )),
    Group("Tables and views", (
        Command("CREATE [TEMPORARY] TABLE [IF NOT EXISTS] table (columns) WITH (options)", "Declares a table."),
        Command("CREATE TABLE table WITH (options) LIKE table (choices)", "Declares a table after another one."),
        Command("CREATE TABLE table WITH (options) AS query", "Declares a table and submits the job that fills it."),
        Command("CREATE [TEMPORARY] VIEW [IF NOT EXISTS] view [(columns)] AS query", "Gives a query a name."),
        Command("ALTER TABLE table ADD | MODIFY | DROP | RENAME | SET | RESET ...", "Changes a table's declaration."),
        Command("ALTER VIEW view RENAME TO name | AS query", "Changes a view."),
        Command("DROP [TEMPORARY] TABLE | VIEW [IF EXISTS] name", "Removes a declaration; the data stays."),
        Command("DESCRIBE table", "Shows a table's columns, keys and watermark."),
        Command("SHOW TABLES | VIEWS [FROM database] [[NOT] LIKE 'pattern']", "Lists tables and views."),
        Command("SHOW COLUMNS FROM table [[NOT] LIKE 'pattern']", "Lists a table's columns."),
        Command("SHOW CREATE TABLE | VIEW name", "Shows the statement that declares it."),
    )),
    Group("Catalogs and databases", (
        Command("CREATE CATALOG catalog WITH (options)", "Adds a catalog."),
        Command("CREATE DATABASE [IF NOT EXISTS] database", "Adds a database."),
        Command("DROP CATALOG catalog | DROP DATABASE [IF EXISTS] database [CASCADE]", "Removes one."),
        Command("ALTER DATABASE database SET (options)", "Changes a database's properties."),
        Command("ALTER CATALOG catalog SET | RESET | COMMENT ...", "Changes a catalog's options."),
        Command("DESCRIBE CATALOG | DATABASE [EXTENDED] name", "Shows a catalog or a database."),
        Command("USE CATALOG catalog | USE database", "Makes it the current one."),
        Command("SHOW CATALOGS | DATABASES | CURRENT CATALOG | CURRENT DATABASE", "Lists or names them."),
    )),
    Group("Functions", (
        Command("SHOW [USER] FUNCTIONS [[NOT] LIKE 'pattern']", "Lists the functions."),
        Command("DESCRIBE FUNCTION [EXTENDED] function", "Shows a function: what it is, its arguments, an example."),
        Command("CREATE FUNCTION function AS 'module.attribute' LANGUAGE PYTHON", "Makes a Python function of udfs/ callable."),
        Command("DROP FUNCTION [IF EXISTS] function", "Removes a function's declaration."),
    )),
)  # fmt: skip
