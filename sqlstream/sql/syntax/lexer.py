"""Text to tokens: strings, identifiers, numbers, words, signs and hints, each with its place. Keywords are words here.

Comments of a line begin with ``--`` or ``//``; strings have no escapes but ``''``; E'..' and U&'..' come out decoded.
"""

from __future__ import annotations

import re

from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.generated_names import PREFIX, reserved

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

_TOKEN = re.compile(
    r"""
      (?P<space> \s+ | --[^\n]* | (?<!:)(?<!:/)//[^\n]* | /\*(?!\+).*?\*/ )
    | (?P<string> '(?:[^']|'')*' )
    | (?P<escaped> [eE]'(?:[^'\\]|\\.|'')*' )
    | (?P<unicode> [uU]&'(?:[^']|'')*' (?: \s* [uU][eE][sS][cC][aA][pP][eE] \s* '[^']' )? )
    | (?P<hex> [xX]'[0-9A-Fa-f]*' )
    | (?P<charset> _[uU][tT][fF][-\w]*'(?:[^']|'')*' )
    | (?P<quoted> `(?:[^`]|``)+` )
    | (?P<number> [0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)? )
    | (?P<word> (?:[^\W\d]|\$)[\w$]* )
    | (?P<sign> /\*\+ | \*/ | <> | != | <= | >= | => | \|\| | \.\. | . )
    """,
    re.S | re.X,
)
_SIGNS = {
    "(": TokenType.L_PAREN,
    ")": TokenType.R_PAREN,
    "[": TokenType.L_BRACKET,
    "]": TokenType.R_BRACKET,
    ",": TokenType.COMMA,
    ".": TokenType.DOT,
    ";": TokenType.SEMICOLON,
    "+": TokenType.PLUS,
    "-": TokenType.DASH,
    "*": TokenType.STAR,
    "/": TokenType.SLASH,
    "%": TokenType.MOD,
    "<": TokenType.LT,
    ">": TokenType.GT,
    "=": TokenType.EQ,
    "<>": TokenType.NEQ,
    "!=": TokenType.NEQ,
    "<=": TokenType.LTE,
    ">=": TokenType.GTE,
    "||": TokenType.DPIPE,
    "=>": TokenType.FARROW,
    "/*+": TokenType.HINT,
}
_UNCLOSED = {"'": "string", "`": "identifier"}
_C_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}


def tokenize(text: str) -> list[Token]:
    """The tokens of ``text``. Raises SyntaxProblem at a character that begins none."""
    tokens: list[Token] = []
    line, line_start = 1, 0
    for match in _TOKEN.finditer(text):
        kind, found, start, end = match.lastgroup, match[0], match.start(), match.end()
        if kind != "space":
            token_type, value = _read(kind, found, start, text)
            tokens.append(Token(token_type, value, line, start - line_start + 1, start, end - 1))
        if "\n" in found:
            line += found.count("\n")
            line_start = start + found.rfind("\n") + 1
    return tokens


def lenient(text: str) -> list[Token]:
    """The tokens of text that need not be right, comments among them. What is open reaches to the end; escapes that are wrong stay."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, found, start = match.lastgroup, match[0], match.start()
        if kind == "space":
            if found.strip():
                tokens.append(Token(TokenType.COMMENT, found, start=start, end=match.end() - 1))
            continue
        try:
            token_type, value = _read(kind, found, start, text)
        except SyntaxProblem:
            if kind == "sign" and found in ("'", "`", "/"):
                token_type = {"'": TokenType.STRING, "`": TokenType.IDENTIFIER}.get(found, TokenType.COMMENT)
                return [*tokens, Token(token_type, text[start + 1 :], start=start, end=len(text) - 1)]
            token_type, value = (TokenType.PLACEHOLDER if kind == "sign" else TokenType.STRING), _decoded(found)
        tokens.append(Token(token_type, value, start=start, end=match.end() - 1))
    return tokens


def _decoded(found: str) -> str:
    """A string of which not all escapes are right."""
    return re.sub(r"\\u?([0-9A-Fa-f]{4})", lambda m: chr(int(m[1], 16)), found)


def _read(kind: str | None, found: str, start: int, text: str) -> tuple[TokenType, str]:
    """A token's type and value."""
    match kind:
        case "word":
            return TokenType.VAR, _name(found, start)
        case "sign":
            _check(found, start, text)
            return _SIGNS.get(found, TokenType.PLACEHOLDER), found
        case "string":
            return TokenType.STRING, found[1:-1].replace("''", "'")
        case "quoted":
            return TokenType.IDENTIFIER, _name(found[1:-1].replace("``", "`"), start)
        case "number":
            return TokenType.NUMBER, found
        case "hex":
            return TokenType.HEX_STRING, found[2:-1]
        case "escaped":
            return TokenType.STRING, _whole(_c_style(found[2:-1].replace("''", "'"), start), start)
        case "charset":
            return TokenType.STRING, found[found.index("'") + 1 : -1].replace("''", "'")
    return TokenType.STRING, _whole(_unicode(found, start), start)


def _whole(text: str, start: int) -> str:
    """``text`` with the halves of characters, as Java has them, put together. Raises SyntaxProblem where one is alone: no UTF-8 has it."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise SyntaxProblem("The string has half of a character.", at=start, hint="Of \\D83D\\DE00 both are written, or none.") from None


def _name(name: str, start: int) -> str:
    if reserved(name):
        raise SyntaxProblem(f"Names that begin with {PREFIX} are those of columns that sqlstream itself adds.", at=start, hint="Choose another name.")
    return name


def _check(sign: str, start: int, text: str) -> None:
    if sign == '"':
        raise SyntaxProblem(message(text, start, '"\\""'), at=start, hint="Strings are in single quotes, identifiers in back-ticks.")
    if sign in _UNCLOSED:
        raise SyntaxProblem(message(text, start, f'"{sign}"'), at=start, hint=f"This {_UNCLOSED[sign]} has no end.")
    if sign == "/" and text.startswith("/*", start):
        raise SyntaxProblem(message(text, start, '"/*"'), at=start, hint="This comment has no end.")


def _c_style(text: str, start: int) -> str:
    """``text`` with C's escapes decoded; a backslash before anything else stays."""

    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body in _C_ESCAPES:
            return _C_ESCAPES[body]
        code = int(body, 8) if body.isdigit() else int(body[1:] or "-1", 16)
        if body[0] in "uU" and not 0 <= code < 0x110000:
            raise SyntaxProblem("Unicode escape sequences have four or eight hexadecimal digits.", at=start)
        return chr(code) if code >= 0 and (body[0] in "uUx" or code < 256) else match[0]

    # The longest first.
    return re.sub(r"\\([bfnrt'\\]|U[0-9A-Fa-f]{8}|u(?:[0-9A-Fa-f]{4})?|x[0-9A-Fa-f]{1,2}|[0-7]{1,3})", one, text)


def _unicode(found: str, start: int) -> str:
    """``U&'..' [UESCAPE 'c']`` decoded: four hexadecimal digits behind the escape character; doubled it is itself."""
    parts = re.fullmatch(r"(?is)u&'(.*?)'(?:\s*uescape\s*'(.)')?", found)
    assert parts is not None
    mark = parts[2] or "\\"
    if re.fullmatch(r"[0-9A-Fa-f\s+\"]", mark):
        raise SyntaxProblem(f"UESCAPE '{mark}' may not be hex digit, whitespace, plus sign, or double quote", at=start)
    sign = re.escape(mark)

    def one(match: re.Match[str]) -> str:
        if match[1] is None and match[0] != mark * 2:
            raise SyntaxProblem("Unicode escape sequences have four hexadecimal digits.", at=start)
        return chr(int(match[1], 16)) if match[1] else mark

    return re.sub(f"{sign}(?:([0-9A-Fa-f]{{4}})|{sign})?", one, parts[1].replace("''", "'"))


def position(text: str, offset: int) -> str:
    """``line L, column C`` of ``offset``."""
    line = text.count("\n", 0, offset) + 1
    return f"line {line}, column {offset - text.rfind(chr(10), 0, offset)}"


def message(text: str, offset: int, shown: str) -> str:
    """Flink's message about a token that does not belong where it is."""
    return f"Encountered {shown} at {position(text, offset)}."
