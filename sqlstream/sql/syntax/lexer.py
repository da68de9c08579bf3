"""The one lexer of Flink SQL: text to lexemes, each with its kind and place. It imports nothing that a prompt would wait for.

Comments of a line begin with ``--`` or ``//``; strings have no escapes but ``''``, and those of E'..' and U&'..'. Keywords are words here.

``open_ends`` is for text that is still being typed, or is wrong: a string, a quoted name or a comment without its end reaches to the end of the
text. Without it the sign that opens one stands alone. ``tokens`` makes of lexemes what a parser reads.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Words that Flink takes as names only in back-ticks, as its parser reports them.
RESERVED = frozenset(
    """
    ABS ALL ALLOCATE ALLOW ALTER AND ANY ARE ARRAY ARRAY_CONCAT_AGG ARRAY_MAX_CARDINALITY AS ASENSITIVE ASYMMETRIC AT
    ATOMIC AUTHORIZATION AVG BEGIN BEGIN_FRAME BEGIN_PARTITION BETWEEN BIGINT BINARY BIT BITMAP BLOB BOOLEAN BOTH
    BUCKETS BY BYTES CALL CALLED CARDINALITY CASCADED CASE CAST CATALOGS CEIL CEILING CHAR CHARACTER CHARACTER_LENGTH
    CHAR_LENGTH CHECK CLASSIFIER CLOB CLOSE COALESCE COLLATE COLLECT COLUMN COMMENT COMMIT CONDITION CONNECT CONNECTIONS
    CONSTRAINT CONTAINS CONTAINS_SUBSTR CONTINUOUS CONVERT CORR CORRESPONDING COUNT COVAR_POP COVAR_SAMP CREATE CROSS
    CUBE CUME_DIST CURRENT CURRENT_CATALOG CURRENT_DATE CURRENT_DEFAULT_TRANSFORM_GROUP CURRENT_PATH CURRENT_ROLE
    CURRENT_ROW CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_TRANSFORM_GROUP_FOR_TYPE CURRENT_USER CURSOR CYCLE
    DATABASES DATE DATETIME DATETIME_TRUNC DATE_TRUNC DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFINE DELETE
    DENSE_RANK DEREF DESCRIBE DETERMINISTIC DISALLOW DISCONNECT DISTINCT DISTRIBUTED DISTRIBUTION DOT DOUBLE DROP
    DYNAMIC EACH ELEMENT ELSE EMPTY END END_FRAME END_PARTITION EQUALS ESCAPE EVERY EXCEPT EXEC EXECUTE EXISTS EXP
    EXPLAIN EXTEND EXTENDED EXTERNAL EXTRACT FALSE FETCH FILTER FIRST_VALUE FLOAT FLOOR FOR FOREIGN FRAME_ROW FREE
    FRESHNESS FRIDAY FROM FULL FUNCTION FUNCTIONS FUSION GET GLOBAL GRANT GROUP GROUPING GROUPS GROUP_CONCAT HASH HAVING
    HOLD HOUR IDENTITY ILIKE IMPORT IN INCLUDE INDICATOR INITIAL INNER INOUT INSENSITIVE INSERT INT INTEGER INTERSECT
    INTERSECTION INTERVAL INTO IS JOIN JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY
    JSON_SCOPE JSON_VALUE LAG LANGUAGE LARGE LAST_VALUE LATERAL LEAD LEADING LEFT LIKE LIKE_REGEX LIMIT LN LOCAL
    LOCALTIME LOCALTIMESTAMP LOWER MATCH MATCHES MATCH_NUMBER MATCH_RECOGNIZE MATERIALIZED MAX MEASURES MEMBER MERGE
    METHOD MIN MINUS MINUTE MOD MODELS MODIFIES MODIFY MODULE MODULES MONDAY MONTH MULTISET NATIONAL NATURAL NCHAR NCLOB
    NEW NEXT NO NONE NORMALIZE NOT NTH_VALUE NTILE NULL NULLIF NUMERIC OCCURRENCES_REGEX OCTET_LENGTH OF OFFSET OLD OMIT
    ON ONE ONLY OPEN OR ORDER ORDINAL OUT OUTER OVER OVERLAPS OVERLAY PARAMETER PARTITION PATTERN PER PERCENT
    PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK PERIOD PERMUTE PIVOT PORTION POSITION POSITION_REGEX POWER PRECEDES
    PRECISION PREPARE PREV PRIMARY PROCEDURE PROCEDURES QUALIFY QUARTERS RANGE RANK RAW READS REAL RECURSIVE REF
    REFERENCES REFERENCING REFRESH REFRESH_MODE REGR_AVGX REGR_AVGY REGR_COUNT REGR_INTERCEPT REGR_R2 REGR_SLOPE
    REGR_SXX REGR_SXY REGR_SYY RELEASE RENAME RESET RESULT RESUME RETURN RETURNS REVOKE RIGHT RLIKE ROLLBACK ROLLUP ROW
    ROWS ROW_NUMBER RUNNING SAFE_CAST SAFE_OFFSET SAFE_ORDINAL SATURDAY SAVEPOINT SCALA SCOPE SCROLL SEARCH SECOND SEEK
    SELECT SENSITIVE SEPARATOR SESSION_USER SET SHOW SIMILAR SKIP SMALLINT SOME SPECIFIC SPECIFICTYPE SQL SQLEXCEPTION
    SQLSTATE SQLWARNING SQRT START STATEMENT STATIC STDDEV_POP STDDEV_SAMP STREAM STRING STRING_AGG STRUCTURED
    SUBMULTISET SUBSET SUBSTRING SUBSTRING_REGEX SUCCEEDS SUM SUNDAY SUSPEND SYMMETRIC SYSTEM SYSTEM_TIME SYSTEM_USER
    TABLE TABLES TABLESAMPLE THEN THURSDAY TIME TIMESTAMP TIMESTAMP_DIFF TIMESTAMP_LTZ TIMESTAMP_TRUNC TIMEZONE_HOUR
    TIMEZONE_MINUTE TIME_DIFF TIME_TRUNC TINYINT TO TRAILING TRANSLATE TRANSLATE_REGEX TRANSLATION TREAT TRIGGER TRIM
    TRIM_ARRAY TRUE TRUNCATE TRY_CAST TUESDAY UESCAPE UNION UNIQUE UNKNOWN UNNEST UNPIVOT UPDATE UPPER UPSERT USE USER
    USING VALUE VALUES VALUE_OF VARBINARY VARCHAR VARIANT VARYING VAR_POP VAR_SAMP VERSIONING VIEWS WATERMARK WATERMARKS
    WEDNESDAY WEEKS WHEN WHENEVER WHERE WIDTH_BUCKET WINDOW WITH WITHIN WITHOUT YEAR
    """.split()
)
# Reserved words that are names of functions where a parenthesis follows.
CALLABLE = frozenset(
    """
    ABS AVG CARDINALITY CHAR CHARACTER_LENGTH CHAR_LENGTH CLASSIFIER COALESCE COLLECT CONTAINS_SUBSTR COUNT COVAR_POP
    COVAR_SAMP CUME_DIST DATE DATETIME DATETIME_TRUNC DATE_TRUNC DENSE_RANK ELEMENT EVERY EXP FIRST_VALUE FUSION
    GROUPING HOUR INTERSECTION LAG LAST_VALUE LEAD LEFT LN LOWER MATCH_NUMBER MAX MIN MINUTE MOD MONTH NTH_VALUE NTILE
    NULLIF OCTET_LENGTH PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK POWER PREV RANK REGR_COUNT REGR_SXX REGR_SYY RIGHT
    ROW_NUMBER SECOND SQRT STDDEV_POP STDDEV_SAMP SUM TIME TIMESTAMP TIMESTAMP_TRUNC TIME_TRUNC TRANSLATE TRUNCATE UPPER
    VAR_POP VAR_SAMP YEAR
    """.split()
)


class Kind(Enum):
    """What a lexeme is."""

    COMMENT = "comment"
    STRING = "string"
    QUOTED = "quoted"
    NUMBER = "number"
    WORD = "word"
    SIGN = "sign"


class Lexeme(NamedTuple):
    """A piece of text as it is written, and where it stands."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def upper(self) -> str:
        """A word in upper case, a sign as it is; of all else nothing."""
        return self.text.upper() if self.kind in (Kind.WORD, Kind.SIGN) else ""

    @property
    def name(self) -> str:
        """What a word or a name in back-ticks names."""
        return self.text.strip("`").replace("``", "`") if self.kind is Kind.QUOTED else self.text

    @property
    def value(self) -> str:
        """What a string without escapes of its own says."""
        return self.text.partition("'")[2].removesuffix("'").replace("''", "'")

    @property
    def is_open(self) -> bool:
        """Whether a string, a quoted name or a comment has no end: it is the last lexeme then."""
        match = _LEXEME.fullmatch(self.text)
        return match is None or match.lastgroup != self.kind.value


# What a word is made of, besides ASCII's digits, as Calcite's grammar has it: no Korean, no superscripts.
_LETTER = r"$A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0100-\u1fff\u3040-\u318f\u3300-\u337f\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
# END stands for "or the end of the text" where ends may be open. ``//`` behind a colon is part of an address.
_GRAMMAR = r"""
      (?P<space> \s+ )
    | (?P<string> (?: (?:_[uU][tT][fF][-\w]*)? '[^']*(?:''[^']*)* | [eE]'[^'\\]*(?:(?:\\.|'')[^'\\]*)* | [xX]'[0-9A-Fa-f]* ) (?:' END )
                | [uU]&'[^']*(?:''[^']*)* (?:' END ) (?: \s* [uU][eE][sS][cC][aA][pP][eE] \s* '[^']' )? )
    | (?P<word> [LETTER][LETTER0-9]* )
    | (?P<quoted> `[^`]*(?:``[^`]*)* (?:` END ) )
    | (?P<number> [0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)? )
    | (?P<comment> --[^\n]* | (?<!:)(?<!:/)//[^\n]* | /\*(?!\+).*? (?:\*/ END ) )
    | (?P<sign> /\*\+ | \*/ | <> | != | <= | >= | => | \|\| | \.\. | . )
"""
_GRAMMAR = _GRAMMAR.replace("LETTER", _LETTER)
_LEXEME = re.compile(_GRAMMAR.replace("END", ""), re.S | re.X)
_OPEN_LEXEME = re.compile(_GRAMMAR.replace("END", r"| \Z"), re.S | re.X)
_KINDS = {kind.value: kind for kind in Kind}


def lexemes(text: str, *, open_ends: bool = False) -> Iterator[Lexeme]:
    """The lexemes of ``text``, comments among them; what is between them is space."""
    for match in (_OPEN_LEXEME if open_ends else _LEXEME).finditer(text):
        if (kind := match.lastgroup) != "space":
            yield Lexeme(_KINDS[kind], match[0], match.start())  # type: ignore[index]


def position(text: str, offset: int) -> str:
    """``line L, column C`` of ``offset``."""
    line = text.count("\n", 0, offset) + 1
    return f"line {line}, column {offset - text.rfind(chr(10), 0, offset)}"


def message(text: str, offset: int, shown: str) -> str:
    """Flink's message about a token that does not belong where it is."""
    return f"Encountered {shown} at {position(text, offset)}."
