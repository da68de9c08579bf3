"""Lexemes to the tokens that the parser reads: strings come out decoded, every other lexeme as it is written. Keywords are words here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.core.errors import SyntaxProblem
from sqlstream.core.hidden import PREFIX
from sqlstream.sql.generated_names import reserved
from sqlstream.sql.syntax.lexer import Kind, Lexeme, lexemes, message, position

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_CURLY = "\u2018\u2019\u201c\u201d"
_UNCLOSED = {"'": "string", "`": "identifier"}
_ENDS = {Kind.STRING: "'", Kind.QUOTED: "`"}
_C_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
_TYPES = {
    Kind.COMMENT: TokenType.COMMENT,
    Kind.STRING: TokenType.STRING,
    Kind.QUOTED: TokenType.IDENTIFIER,
    Kind.NUMBER: TokenType.NUMBER,
    Kind.WORD: TokenType.VAR,
}


def tokenize(text: str, lexed: Sequence[Lexeme] = (), offset: int = 0) -> list[Token]:
    """The tokens of ``text``. Raises SyntaxProblem at a character that begins none, at an escape that is wrong.

    ``lexed``: its lexemes, where they are known, with their places in a script in which it stands at ``offset``.
    """
    tokens: list[Token] = []
    line, line_start, counted = 1, 0, 0
    # What is open is lexed otherwise here: as the sign that it begins with.
    known = (Lexeme(kind, written, start - offset) for kind, written, start in lexed) if lexed and not lexed[-1].is_open else None
    for lexeme in known or lexemes(text):
        if lexeme.kind is Kind.COMMENT:
            continue
        start = lexeme.start
        if newlines := text.count("\n", counted, start):
            line += newlines
            line_start = text.rindex("\n", counted, start) + 1
        counted = start
        tokens.append(Token(_type(lexeme), _read(lexeme, text), line, start - line_start + 1, start, lexeme.end - 1))
    return tokens


def tolerant_tokens(text: str) -> list[Token]:
    """The tokens of text that may be wrong, comments among them. What is open reaches to the end; escapes that are wrong stay."""
    tokens: list[Token] = []
    for lexeme in lexemes(text, open_ends=True):
        # Nothing follows what is open.
        end = _ENDS.get(lexeme.kind, "") if lexeme.end == len(text) and lexeme.is_open else ""
        try:
            value = _read(Lexeme(lexeme.kind, lexeme.text + end, lexeme.start) if end else lexeme, text)
        except SyntaxProblem:
            value = _half_decoded(lexeme.text)
        tokens.append(Token(_type(lexeme), value, start=lexeme.start, end=lexeme.end - 1))
    return tokens


def _half_decoded(text: str) -> str:
    """A string of which not all escapes are right."""
    return re.sub(r"\\u?([0-9A-Fa-f]{4})", lambda m: chr(int(m[1], 16)), text)


def _type(lexeme: Lexeme) -> TokenType:
    if lexeme.kind is Kind.SIGN:
        return _SIGNS.get(lexeme.text, TokenType.PLACEHOLDER)
    return TokenType.HEX_STRING if lexeme.kind is Kind.STRING and lexeme.text[0] in "xX" else _TYPES[lexeme.kind]


def _read(lexeme: Lexeme, text: str) -> str:
    """What a lexeme of ``text`` says. Raises SyntaxProblem."""
    written, start = lexeme.text, lexeme.start
    match lexeme.kind:
        case Kind.WORD:
            return _name(written, start)
        case Kind.QUOTED if written == "``":
            raise SyntaxProblem(message(text, start, '"`"'), at=start, hint="A name has at least one character.")
        case Kind.QUOTED:
            return _name(written[1:-1].replace("``", "`"), start)
        case Kind.SIGN:
            _check(written, start, text)
        case Kind.STRING:
            return _string(written, start)
    return written


def _string(written: str, start: int) -> str:
    match written[0]:
        case "x" | "X":
            return written[2:-1]
        case "e" | "E":
            return _whole(_c_style(written[2:-1].replace("''", "'"), start), start)
        case "u" | "U":
            return _whole(_unicode(written, start), start)
    return written.partition("'")[2][:-1].replace("''", "'")


def _whole(text: str, start: int) -> str:
    """``text`` with the halves of characters, as Java has them, put together. Raises SyntaxProblem where one is alone: no UTF-8 has it."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise SyntaxProblem("The string holds half of a surrogate pair.", at=start, hint="Write both halves, as in \\D83D\\DE00.") from None


def _name(name: str, start: int) -> str:
    if reserved(name):
        raise SyntaxProblem(f"Names that begin with {PREFIX} are reserved for columns that sqlstream adds.", at=start, hint="Choose another name.")
    return name


def _check(sign: str, start: int, text: str) -> None:
    if sign.isalnum():
        where = position(text, start)
        raise SyntaxProblem(
            f'Lexical error at {where}.  Encountered: "{sign}" ({ord(sign)})', at=start, hint="A name that has it stands in backticks."
        )
    if sign == '"':
        raise SyntaxProblem(message(text, start, '"\\""'), at=start, hint="Strings are written in single quotes, identifiers in backticks.")
    if sign in _CURLY:
        raise SyntaxProblem(message(text, start, f'"{sign}"'), at=start, hint="Strings are written in straight single quotes: 'text'.")
    if sign in _UNCLOSED:
        raise SyntaxProblem(message(text, start, f'"{sign}"'), at=start, hint=f"This {_UNCLOSED[sign]} is not closed.")
    if sign == "/" and text.startswith("/*", start):
        raise SyntaxProblem(message(text, start, '"/*"'), at=start, hint="This comment is not closed.")


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


def _unicode(literal: str, start: int) -> str:
    """``U&'..' [UESCAPE 'c']`` decoded: four hexadecimal digits behind the escape character; doubled it is itself."""
    parts = re.fullmatch(r"(?is)u&'(.*?)'(?:\s*uescape\s*'(.)')?", literal)
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
