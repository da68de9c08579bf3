"""The script of a job without what the job does not need."""

from __future__ import annotations

import pytest

from sqlstream.session.needed import needed

KAFKA = "WITH ('connector' = 'kafka', 'topic' = 'other', 'password' = 'hunter2')"
JOB = "SET 'pipeline.name' = 'j'\n;\nINSERT INTO d.`Sink` SELECT id FROM v\n;\n"


@pytest.mark.parametrize(
    "declared",
    [
        f"CREATE TABLE other (id INT) {KAFKA}\n;\n",
        f"CREATE OR REPLACE TEMPORARY TABLE c.`d`.`the other` (id INT) {KAFKA}\n;\n",
        f"CREATE TABLE IF NOT EXISTS other (id INT) {KAFKA}\n;\nALTER TABLE other SET ('topic' = 'sink')\n;\nCREATE VIEW w AS SELECT * FROM other\n;\n",
        "CREATE TEMPORARY VIEW other AS SELECT ';' AS a\n;\nDROP VIEW IF EXISTS other\n;\n",
    ],
)
def test_what_the_job_does_not_need_is_left_out(declared: str) -> None:
    mine = "CREATE TABLE s (id INT) WITH ('connector' = 'datagen')\n;\nCREATE VIEW v AS SELECT * FROM s\n;\nCREATE TABLE sink (id INT)\n;\n"
    assert needed(f"-- Of the script a\n{declared}{mine}{JOB}") == f"-- Of the script a\n{mine}{JOB}"


@pytest.mark.parametrize(
    "declared",
    [
        "CREATE CATALOG c WITH ('type' = 'jdbc')\n;\nUSE CATALOG c\n;\nCREATE FUNCTION f AS 'a.b'\n;\nSET 'a' = 'b'\n;\n",
        "CREATE TABLE a (id INT)\n;\nCREATE TABLE b LIKE a\n;\nALTER TABLE b RENAME TO v\n;\n",
        "CREATE TABLE s (id INT)\n;\nALTER TABLE s ADD x INT\n;\nCREATE VIEW v AS SELECT id FROM S\n;\n",
    ],
)
def test_what_it_needs_stays(declared: str) -> None:
    assert needed(declared + JOB) == declared + JOB


def test_a_statement_set_needs_all_that_it_writes() -> None:
    script = "CREATE TABLE a (x INT);\nCREATE TABLE b (x INT);\nCREATE TABLE c (x INT);\nEXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;\n"
    assert needed(script) == script.replace("CREATE TABLE c (x INT);\n", "")
    assert needed("") == ""
