"""Backslash commands: the SQL that each is short for, which parses."""

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.session.backslash import expanded, help_text, sql
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import is_complete, last_command, split
from sqlstream.sql.statements.table import SHORT_FORMS

SHORT = {
    "\\?": "HELP COMMANDS;",
    "\\h TUMBLE": "HELP TUMBLE;",
    "\\d": "SHOW TABLES;",
    "\\d a.b": "DESCRIBE `a`.`b`;",
    "\\d `Big T`": "DESCRIBE `Big T`;",
    "\\d d.`a.b ``c`": "DESCRIBE `d`.`a.b ``c`;",
    "\\d 'Big T'": "DESCRIBE `Big T`;",
    "\\l": "SHOW CATALOGS; SHOW DATABASES;",
    "\\j": "SHOW JOBS;",
    "\\top": "SHOW JOB METRICS;",
    "\\why": "EXPLAIN JOB;",
    "\\why 0a1b": "EXPLAIN JOB '0a1b';",
    "\\q": "QUIT;",
    "\\x": "SET 'sql-client.display.expanded' = 'on';",
    "\\x auto": "SET 'sql-client.display.expanded' = 'auto';",
    "\\n": "SHOW QUERIES;",
    "\\n spent least=5 who='it''s me; x' when=2026-01-01": "EXECUTE QUERY `spent` (`least` => 5, `who` => 'its me; x', `when` => '2026-01-01');",
    "\\n `my q` n=1": "EXECUTE QUERY `my q` (`n` => 1);",
    "\\plot `a b`": "PLOT `a b`;",
    "\\peek clicks": "PEEK 'clicks';",
    "\\peek my.topic 3": "PEEK 'my.topic' LIMIT 3;",
    "\\infer clicks": "INFER TABLE FROM 'clicks';",
    "\\infer clicks seen": "INFER TABLE `seen` FROM 'clicks';",
    "\\export last csv out/a.csv": "EXPORT LAST TO 'out/a.csv' FORMAT CSV;",
    "\\export last json 'a b' overwrite": "EXPORT LAST TO 'a b' FORMAT JSON OVERWRITE;",
    "\\plot": "PLOT;",
    "\\plot total item": "PLOT `total` BY `item`;",
}


@pytest.mark.parametrize("line", SHORT)
def test_a_command_is_short_for_sql(line):
    assert expanded(line) == SHORT[line]
    for statement in split(expanded(line)):
        made = parse(statement.text)
        assert parse(made.sql()) == made
    assert is_complete(line)


@pytest.mark.parametrize("line", ["\\d Big T", "\\n Big T", "\\plot a b c"])
def test_a_name_with_spaces(line):
    with pytest.raises(ValidationError, match="A name with spaces is written in backticks: `a b`."):
        expanded(line)


def test_every_command_is_tried_and_told():
    assert {line.split(" ")[0] for line in SHORT} == set(SHORT_FORMS)
    assert all(name in help_text() and sql(short, form) in help_text() for name, (short, form) in SHORT_FORMS.items())


@pytest.mark.parametrize("text", ["SELECT 1;", " HELP", "SELECT '\\d';"])
def test_sql_stays(text):
    assert expanded(text) == text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("\\peak x", "There is no command \\peak."),
        ("\\peek", "takes: topic [n]"),
        ("\\plot 'a", "No closing quotation"),
        ("\\n a b", "takes: [query"),
    ],
)
def test_wrong_use_is_told(line, said):
    with pytest.raises(ValidationError) as caught:
        expanded(line)
    assert said in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("\\peak x", "Did you mean '\\peek'?"),
        ("\\help", "Here it is \\h."),
        ("\\hlep", "Here \\help is \\h."),
        ("\\12345", "\\? lists the commands."),
    ],
)
def test_what_was_meant_is_told(line, hint):
    with pytest.raises(ValidationError) as caught:
        expanded(line)
    assert caught.value.hint == hint


@pytest.mark.parametrize(("line", "hint"), [("\\help", "\\h"), ("\\i a.sql", "SOURCE"), ("\\dt", "\\d"), ("\\peak x", "\\peek"), ("\\zzz", "\\?")])
def test_commands_of_other_shells_are_answered_by_ours(line, hint):
    with pytest.raises(ValidationError) as caught:
        expanded(line)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("SELECT *\n\\q", "\\q"),
        ("SELECT *\nFROM t\n  \\d t", "  \\d t"),
        ("SELECT 1;\n\\d", "\\d"),
        ("SELECT 'a\n\\q", None),
        ("SELECT /* a\n\\q", None),
        ("SELECT `a\n\\q", None),
        ("\\q", None),
        ("\n\\q", None),
        ("\\d\n\\q", None),
        ("SELECT 1", None),
    ],
)
def test_a_command_may_interrupt_a_statement(text, command):
    assert last_command(text) == command
