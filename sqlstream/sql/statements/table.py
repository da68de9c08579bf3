"""The table of statements. Parser, writer, splitter, did-you-mean, completion, colours, HELP and the backslash commands read it; the session has
a handler for each node, and what is checked without running leaves out what ``needs`` more than declarations.

A form without ``parse`` is read by its pattern, a node without ``write`` is written by it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlstream.sql.statements import short_form, text
from sqlstream.sql.statements.form import FormGroup, Needs, Refused, StatementForm, written
from sqlstream.sql.statements.pattern import pattern, words
from sqlstream.sql.statements.short_form import ShortForm
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.statement_parser import StatementParser as Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.generator import Generator

    Write = Callable[[Generator, Any], str]

_LIKE = "[[negated:NOT] (LIKE | ilike:ILIKE) like:<text>]"
_NEW = "[IF NOT EXISTS] <new>"
_OLD = "[IF EXISTS]"
_DETAILS = "[CHANGELOG_MODE | ESTIMATED_COST | PLAN_ADVICE | JSON_EXECUTION_PLAN | PLAN FOR]"
_WATERMARK = "WATERMARK FOR <column> AS <expression>"
_STATEMENT_SET = "STATEMENT SET BEGIN"
# The words behind which the statements of a set stand.
SET_BEGINS = tuple(_STATEMENT_SET.split())
Form = StatementForm
# What an init file may hold, too: it declares or sets something, and answers nothing.
Setup = partial(StatementForm, init=True)

GROUPS = (
    FormGroup("Queries", (
        Form("<query>", exp.Query, "Runs a query and shows its rows as they come; Ctrl-C ends it.", syntax="[WITH name AS (query)] SELECT ..."),
        Form("<query>", exp.Values, "Shows the rows that it lists.", syntax="VALUES (value, ...), ..."),
    )),
    FormGroup("Jobs", (
        Form("INSERT INTO <table> [PARTITION <(values)>] [<(columns)>] <query> [ON CONFLICT DO (DEDUPLICATE | NOTHING | ERROR)]", ast.Insert,
             "Submits a job that writes a query's rows to a table.", Parser.insert, text.insert),
        Form("INSERT OVERWRITE <table> [PARTITION <(values)>] [<(columns)>] <query>", ast.Insert, "Replaces a table's rows (batch mode).",
             Parser.insert),
        Form(f"EXECUTE {_STATEMENT_SET}", ast.StatementSet, "Submits several INSERTs as one job.", Parser.execute, text.statement_set,
             syntax=f"EXECUTE {_STATEMENT_SET} insert; ... END"),
        Form("BEGIN STATEMENT SET", ast.BeginStatementSet, "Begins a set: the INSERTs that follow, up to END, are one job."),
        Form("END", ast.EndStatementSet, "Submits the set that BEGIN STATEMENT SET has begun."),
        Form(f"EXPLAIN {_DETAILS} (<query> | INSERT INTO <table> [<(columns)>] <query>)", ast.Explain,
             "Shows the plan of a query or an INSERT.", Parser.explain, text.explain),
        Form(f"EXPLAIN {_DETAILS} [EXECUTE] {_STATEMENT_SET}", ast.Explain, "Shows the plans of a statement set.", Parser.explain,
             syntax=f"EXPLAIN {_STATEMENT_SET} insert; ... END"),
        Form("EXPLAIN UPGRADE INSERT INTO <table> [<(columns)>] <query>", ast.ExplainUpgrade,
             "Shows what happens to the offsets, state and sinks of the stopped job that an INSERT would resume.", Parser.explain,
             text.explain_upgrade, needs=Needs.RUN),
        Form(f"EXPLAIN UPGRADE [EXECUTE] {_STATEMENT_SET}", ast.ExplainUpgrade, "Says the same of a statement set.", Parser.explain,
             syntax=f"EXPLAIN UPGRADE {_STATEMENT_SET} insert; ... END", needs=Needs.RUN),
        Form("SHOW kind:(JOBS) [extended:EXTENDED]", ast.Show, "Lists the jobs; EXTENDED: with their ids, processes, last errors, sizes.",
             short=ShortForm("\\j", "", short_form.fixed("SHOW JOBS"))),
        Form("(DESCRIBE | DESC) JOB [extended:EXTENDED] this:<job>", ast.DescribeJob,
             "Shows a job; EXTENDED: by partition, watermark and filter.", Parser.describe, needs=Needs.RUN),
        Form("SHOW kind:(JOB METRICS)", ast.Show, "Shows what the jobs do: rows in and out, lag, watermark, state, late rows; live in a terminal.",
             short=ShortForm("\\top", "", short_form.fixed("SHOW JOB METRICS"))),
        Form("EXPLAIN JOB [this:<job>]", ast.ExplainJob, "Says why a job emits nothing, or nothing more: the given job, or each that is running.",
             needs=Needs.RUN, short=ShortForm("\\why", "[job]", short_form.why, before="EXPLAIN JOB '")),
        Form("STOP JOB <job> [WITH SAVEPOINT] [WITH DRAIN]", ast.StopJob, "Stops a job; with DRAIN its open windows fire first.",
             Parser.stop, text.stop, needs=Needs.RUN),
        Form("DETACH JOB this:<job>", ast.DetachJob, "Hands a job over to the background, where it resumes from its checkpoint.", needs=Needs.RUN),
        Form("ALTER JOB <job> SET OFFSETS <(options)>", ast.AlterJob,
             "Sets from where a stopped job resumes reading topics: 'earliest', 'latest', 'timestamp=..', 'partition:0,offset:42;..'.",
             Parser.alter, text.alter_job, needs=Needs.RUN, syntax="ALTER JOB 'id' SET OFFSETS ('topic' = 'where', ...)"),
        Form("ALTER JOB <job> SKIP RECORDS <(options)>", ast.SkipRecords,
             "Leaves single records of topics out, from the next start of a stopped job on: 'partition:0,offset:42;..'.",
             Parser.alter, text.skip_records, needs=Needs.RUN, syntax="ALTER JOB 'id' SKIP RECORDS ('topic' = 'records', ...)"),
        Form(f"DROP JOB {_OLD} <job>", ast.DropJob, "Deletes a stopped job: its state, offsets and versions; tables keep their rows.",
             Parser.drop_job, text.drop_job, needs=Needs.RUN),
        Form("SAVEPOINT JOB this:<job>", ast.SavepointJob, "Makes a savepoint of a job while it runs: a copy, with which a job can begin.",
             needs=Needs.RUN),
        Form("SHOW kind:(SAVEPOINTS)", ast.Show, "Lists the savepoints in the folder where they are made."),
        Form("(DESCRIBE | DESC) SAVEPOINT this:<savepoint>", ast.DescribeSavepoint,
             "Shows a savepoint: its job, statement, offsets, and operators with the tables of their states.", Parser.describe, needs=Needs.RUN),
        Form("DROP SAVEPOINT this:<savepoint>", ast.DropSavepoint, "Deletes a savepoint.", Parser.drop_savepoint, needs=Needs.RUN),
    )),
    FormGroup("Tables and views", (
        Setup(f"CREATE [TEMPORARY] TABLE {_NEW} [<(columns)>] [COMMENT <text>] [DISTRIBUTED BY [HASH | RANGE] <(columns)> [INTO <number> BUCKETS]]"
             " [PARTITIONED BY <(columns)>] [WITH <(options)>] [LIKE <relation> [<(choices)>] | AS <query>]", ast.CreateTable,
             "Declares a table, optionally LIKE another one; AS query also submits the job that fills it.", Parser.create, text.create_table),
        Setup(f"CREATE [TEMPORARY] VIEW {_NEW} [<(columns)>] [COMMENT <text>] AS <query>", ast.CreateView,
             "Gives a query a name.", Parser.create, text.create_view),
        Setup(f"ALTER TABLE {_OLD} <table> (ADD (<(columns)> | {_WATERMARK}) | MODIFY (<(columns)> | {_WATERMARK})"
             " | DROP (<(columns)> | <column> | WATERMARK | PRIMARY KEY) | RENAME [<column>] TO <new> | SET <(options)> | RESET <(keys)>)",
             ast.AlterTable, "Changes a table's declaration.", Parser.alter, text.alter("TABLE")),
        Setup("ALTER VIEW <view> (RENAME TO <new> | AS <query>)", ast.AlterView, "Changes a view.", Parser.alter, text.alter("VIEW")),
        Setup(f"DROP [TEMPORARY] TABLE {_OLD} <table>", ast.Drop, "Removes a table's declaration; the data stays.", Parser.drop, text.drop),
        Setup(f"DROP [TEMPORARY] VIEW {_OLD} <view>", ast.Drop, "Removes a view.", Parser.drop),
        Form("(DESCRIBE | DESC) <relation>", ast.Describe, "Shows a table's columns, keys and watermark.", Parser.describe, text.describe,
             short=ShortForm("\\d", "[name]", short_form.describe, "SHOW TABLES | DESCRIBE name",
                             "Lists tables and views, or shows the columns of one.", "DESCRIBE ")),
        Form("SHOW kind:(TABLES | VIEWS) [(FROM | IN) this:<database>] " + _LIKE, ast.Show, "Lists tables and views."),
        Form("SHOW kind:(COLUMNS) (FROM | IN) this:<relation> " + _LIKE, ast.Show, "Lists a table's columns."),
        Form("SHOW kind:(CREATE TABLE) this:<table>", ast.Show, "Shows the statement that declares a table."),
        Form("SHOW kind:(CREATE VIEW) this:<view>", ast.Show, "Shows the statement that declares a view."),
        Form("SHOW kind:(PARTITIONS) this:<table>", ast.Show, "Lists a table's partitions.", Parser.show_partitions),
    )),
    FormGroup("Catalogs and databases", (
        Setup(f"CREATE CATALOG {_NEW} [COMMENT <text>] [WITH <(options)>]", ast.CreateCatalog, "Adds a catalog.",
             Parser.create, text.create_space("CATALOG")),
        Setup(f"CREATE DATABASE {_NEW} [COMMENT <text>] [WITH <(options)>]", ast.CreateDatabase, "Adds a database.",
             Parser.create, text.create_space("DATABASE")),
        Setup(f"DROP CATALOG {_OLD} <catalog>", ast.Drop, "Removes a catalog.", Parser.drop),
        Setup(f"DROP DATABASE {_OLD} <database> [RESTRICT | CASCADE]", ast.Drop, "Removes a database; CASCADE: with what is in it.", Parser.drop),
        Setup("ALTER DATABASE <database> SET <(options)>", ast.AlterDatabase, "Changes a database's properties.", Parser.alter,
             text.alter("DATABASE")),
        Setup("ALTER CATALOG <catalog> (SET <(options)> | RESET <(keys)> | COMMENT <text>)", ast.AlterCatalog, "Changes a catalog's options.",
             Parser.alter, text.alter("CATALOG")),
        Form("(DESCRIBE | DESC) (CATALOG [EXTENDED] <catalog> | DATABASE [EXTENDED] <database>)", ast.Describe, "Shows a catalog or a database.",
             Parser.describe),
        Setup("USE (CATALOG <catalog> | <database>)", ast.Use, "Makes a catalog or a database the current one.", Parser.use, text.use),
        Form("SHOW kind:(CATALOGS) " + _LIKE, ast.Show, "Lists the catalogs.",
             short=ShortForm("\\l", "", short_form.fixed("SHOW CATALOGS; SHOW DATABASES"), "SHOW CATALOGS; SHOW DATABASES",
                             "Lists the catalogs, and the databases of the current one.")),
        Form("SHOW kind:(DATABASES) [(FROM | IN) this:<catalog>] " + _LIKE, ast.Show, "Lists a catalog's databases."),
        Form("SHOW kind:(CURRENT CATALOG | CURRENT DATABASE)", ast.Show, "Shows the name of the current catalog or database."),
        Form("SHOW kind:(CREATE CATALOG) this:<catalog>", ast.Show, "Shows the statement that declares a catalog."),
    )),
    FormGroup("Functions", (
        Form("SHOW kind:(USER FUNCTIONS | FUNCTIONS) [(FROM | IN) this:<database>] " + _LIKE, ast.Show, "Lists the functions."),
        Form("(DESCRIBE | DESC) FUNCTION [EXTENDED] <function>", ast.Describe, "Shows a function: what it is, its arguments, an example.",
             Parser.describe),
        Setup(f"CREATE [TEMPORARY [SYSTEM]] FUNCTION {_NEW} AS <text> [(LANGUAGE PYTHON | USING JAR <file>)]", ast.CreateFunction,
             "Makes a function callable: AS 'module.attribute' of udfs/, or AS 'class' of a jar.", Parser.create,
             text.function("CREATE", "if_not_exists")),
        Setup("ADD JAR <file>", ast.Jar, "Adds a jar with functions in Java to the session; as 'pipeline.jars' does.", Parser.jar, text.jar),
        Setup("REMOVE JAR <file>", ast.Jar, "Takes a jar out of the session.", Parser.jar, text.jar),
        Form("SHOW kind:(JARS)", ast.Show, "Lists the jars of the session."),
        Setup(f"DROP [TEMPORARY [SYSTEM]] FUNCTION {_OLD} <function>", ast.Drop, "Removes a function's declaration.", Parser.drop),
        Form("SHOW kind:(FULL MODULES | MODULES)", ast.Show, "Lists the modules that functions come from: there is one."),
        Form("SHOW kind:(PROCEDURES)", ast.Show, "For Flink's clients: there are none."),
    )),
    FormGroup("Shell", (
        Form("HELP [<topic> | CATALOG <catalog_type> | CONNECTOR <connector> | FORMAT <format> | FUNCTION <function> | SET <setting>]", ast.Help,
             "Names what it explains, or explains one: HELP TUMBLE, HELP CONNECTOR kafka.", Parser.help, text.help_on, bare=True,
             short=ShortForm("\\h", "[topic]", short_form.help_on, "HELP [topic]", "Explains a statement, a function, a connector, an option.",
                             "HELP ")),
        Form("HELP COMMANDS", ast.Help, "Lists the commands that begin with a backslash.", Parser.help,
             short=ShortForm("\\?", "", short_form.fixed("HELP COMMANDS"))),
        Form("(QUIT | EXIT)", ast.Quit, "Ends the shell; it asks whether running jobs go on in the background, else whether they stop.",
             bare=True, needs=Needs.RUN, short=ShortForm("\\q", "", short_form.fixed("QUIT"))),
        Form("CLEAR", ast.Clear, "Clears the screen.", bare=True),
        Form("SOURCE this:<file>", ast.Source, "Runs the statements of a file."),
        Form("SHOW kind:(QUERIES) " + _LIKE, ast.Show, "Lists the saved queries, their parameters and the questions that they answer."),
        Form("EXECUTE QUERY <saved_query> [<(parameter => value, ...)>]", ast.ExecuteQuery, "Runs a saved query.",
             Parser.execute_query, text.execute_query,
             short=ShortForm("\\n", "[query [parameter=value ..]]", short_form.query,
                             "SHOW QUERIES | EXECUTE QUERY query [(parameter => value, ..)]", "Lists the saved queries, or runs one.",
                             "EXECUTE QUERY `")),
        Form("PEEK this:<stream> [LIMIT limit:<number>]", ast.Peek,
             "Shows the last records of a Kafka topic (10, or n) as they are, without a table.", needs=Needs.RUN,
             short=ShortForm("\\peek", "topic [n]", short_form.peek, before="PEEK '")),
        Form("INFER TABLE [this:<new>] FROM topic:<stream> [save:SAVE]", ast.Infer,
             "Proposes a CREATE TABLE from a sample of a topic; SAVE saves it to catalog/, otherwise the prompt asks.",
             needs=Needs.RUN, short=ShortForm("\\infer", "topic [table]", short_form.infer, before="INFER TABLE FROM '")),
        Form("EXPORT LAST TO this:<file> [FORMAT format:(CSV | JSON | PARQUET)] [overwrite:OVERWRITE]", ast.Export,
             "Writes the rows of the last SELECT to a new file, or over an old one.", needs=Needs.RESULT,
             short=ShortForm("\\export", "last csv|json|parquet file [overwrite]", short_form.export)),
        Form("PLOT [this:<result_column> [BY by:<result_column>]]", ast.Plot,
             "Draws the rows of the last SELECT as a chart of characters: a number over their window or time, BY a key.", needs=Needs.RESULT,
             short=ShortForm("\\plot", "[column [key]]", short_form.plot)),
        Setup("SET [<setting> = <value>]", ast.Set, "Sets an option; without one, lists those that are set.", Parser.set, text.set_,
              short=ShortForm("\\x", "[on|off|auto]", short_form.expand, "SET 'sql-client.display.expanded' = 'on|off|auto'",
                              "Gives each column of a row a line of its own; auto, the default: where a table is wider than the terminal.")),
        Setup("RESET [<setting>]", ast.Reset, "Sets an option, or all of them, back to the default.", Parser.reset, text.reset),
    )),
)  # fmt: skip
# Taken, or refused with a reason by what carries it out; neither completed nor listed by HELP.
_UNLISTED = (
    Form("REPLACE TABLE <new> [<(columns)>] [WITH <(options)>] AS <query>", ast.CreateTable, parse=Parser.replace_table),
    Form("CREATE OR REPLACE TABLE <new> [<(columns)>] [WITH <(options)>] AS <query>", ast.CreateTable, parse=Parser.create),
    Setup(f"ALTER [TEMPORARY [SYSTEM]] FUNCTION {_OLD} <function> AS <text>", ast.AlterFunction, parse=Parser.alter,
         write=text.function("ALTER", "if_exists")),
    Form("EXECUTE INSERT INTO <table> <query>", ast.Insert, parse=Parser.execute),
    Form("EXECUTE <query>", exp.Query, parse=Parser.execute),
    Setup("USE MODULES <new>", ast.Use, parse=Parser.use),
    Setup("LOAD MODULE <new> [WITH <(options)>]", ast.Module, parse=Parser.load_module, write=text.module),
    Setup("UNLOAD MODULE <new>", ast.Module, parse=Parser.unload_module),
    Form("SHOW kind:(MATERIALIZED TABLES | MODELS | CONNECTIONS) [(FROM | IN) this:<database>] " + _LIKE, ast.Show),
    Form("SHOW kind:(CREATE MODEL | CREATE MATERIALIZED TABLE | CREATE OR ALTER MATERIALIZED TABLE) this:<new>", ast.Show),
)  # fmt: skip
_MODELS = "Models need an inference provider, and Spark has none."
_MODEL = "A function in Python, in udfs/, can ask a model."
_CONNECTIONS = "Connections are not supported."
_OPTIONS = "Write the options in each table."
_PLANS = "Flink's compiled plans mean nothing to Spark."
_RUN = "Run the INSERT itself: it continues from its checkpoint."
_REFRESH = "sqlstream does not refresh tables on a schedule."
_MATERIALIZED = "Create a Delta table and INSERT INTO it."
_ROWS = "Flink runs it in batch mode only, on connectors that can change single rows; none here can."
_CHANGE = "INSERT INTO a table with a PRIMARY KEY upserts; Spark's own SQL changes the rows of a Delta table."
_COMPILED = f"<file> [IF NOT EXISTS] FOR ({_STATEMENT_SET} | INSERT INTO <table> <query>)"
# Statements that are refused by name. Longer ones come before those that begin them.
REFUSED = (
    Refused("CREATE MODEL", _MODELS, _MODEL),
    Refused("CREATE TEMPORARY MODEL", _MODELS, _MODEL),
    Refused("ALTER MODEL", _MODELS, _MODEL),
    Refused("DROP MODEL", _MODELS, _MODEL),
    Refused("DROP TEMPORARY MODEL", _MODELS, _MODEL),
    Refused("DESCRIBE MODEL", _MODELS, _MODEL),
    Refused("DESC MODEL", _MODELS, _MODEL),
    Refused("CREATE CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("CREATE TEMPORARY CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("CREATE TEMPORARY SYSTEM CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("ALTER CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("DROP CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("DROP TEMPORARY CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("DESCRIBE CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("DESC CONNECTION", _CONNECTIONS, _OPTIONS),
    Refused("CREATE MATERIALIZED TABLE", _REFRESH, _MATERIALIZED),
    Refused("CREATE OR ALTER MATERIALIZED TABLE", _REFRESH, _MATERIALIZED),
    Refused("ALTER MATERIALIZED TABLE", _REFRESH, _MATERIALIZED),
    Refused("DROP MATERIALIZED TABLE", _REFRESH, _MATERIALIZED),
    Refused("CALL", "There are no procedures.", "Spark's own SQL keeps Delta tables in order, as by OPTIMIZE."),
    Refused(f"COMPILE AND EXECUTE PLAN {_COMPILED}", _PLANS, _RUN),
    Refused(f"COMPILE PLAN {_COMPILED}", _PLANS, _RUN),
    Refused("EXECUTE PLAN", _PLANS, _RUN),
    Refused("UPDATE", _ROWS, _CHANGE),
    Refused("DELETE FROM", _ROWS, _CHANGE),
    Refused("MERGE INTO", "Flink itself does not run MERGE.", "INSERT INTO a table with a PRIMARY KEY upserts."),
    Refused("UPSERT INTO", "Flink itself does not run UPSERT.", "INSERT INTO a table with a PRIMARY KEY upserts."),
    Refused("TRUNCATE TABLE", "No statement here deletes data.", "Spark's own SQL empties a Delta table."),
    Refused("ANALYZE TABLE", "Spark keeps its own statistics.", "Leave it out."),
)

# --- what is read off the table ---------------------------------------------------------------------------------------

LISTED = tuple(form for group in GROUPS for form in group.forms)
FORMS = (*LISTED, *_UNLISTED)
_NEEDS = {form.node: form.needs for form in FORMS}
_SETS_UP = {form.node for form in FORMS if form.init}
_PATTERNS = (*(form.pattern for form in FORMS), *(refused.pattern for refused in REFUSED))
SHORT_FORMS = {form.short.name: (form.short, form) for form in LISTED if form.short}
# All words of the statements that are listed.
WORDS = frozenset(w for form in LISTED for w in words(form.parts) if w.isidentifier())
# Words of all statements: of those, too, that are refused.
ALL_WORDS = frozenset(w for row in _PATTERNS for w in words(pattern(row)) if w.isidentifier())
# The statements that the prompt runs without their semicolons.
BARE = frozenset(lead[0] for form in LISTED if form.bare for lead in form.leads)
# Statements with others in them, which end at END: the first words of them, and all that may come before BEGIN.
_SETS = [pattern(row) for row in _PATTERNS if _STATEMENT_SET in row]
SET_STARTS = frozenset(next(words(form)) for form in _SETS)
BEFORE_SET = frozenset(w for form in _SETS for w in words(form)) - {"BEGIN", "INSERT", "INTO"}


def _by_first_word() -> dict[str, list[StatementForm]]:
    by_word: dict[str, list[StatementForm]] = {}
    for form in FORMS:
        for first in dict.fromkeys(lead[0] for lead in form.leads if lead):
            by_word.setdefault(first, []).append(form)
    return by_word


def _writers() -> dict[type[exp.Expr], Write]:
    writers: dict[type[exp.Expr], Write] = {}
    for node in dict.fromkeys(form.node for form in FORMS if issubclass(form.node, ast.Statement)):
        forms = [form for form in FORMS if form.node is node]
        writers[node] = next((form.write for form in forms if form.write), None) or written(forms)
    return writers


BY_FIRST_WORD = _by_first_word()
WRITERS = _writers()


def needs(node: exp.Expr) -> Needs:
    """What the statement ``node`` needs to be carried out."""
    return _NEEDS.get(type(node), Needs.NOTHING)


def sets_up(node: exp.Expr) -> bool:
    """Whether the statement ``node`` only declares or sets something, so that an init file may hold it."""
    return type(node) in _SETS_UP and not (isinstance(node, ast.CreateTable) and node.query is not None)
