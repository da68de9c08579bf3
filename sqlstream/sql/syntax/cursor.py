"""A place in a statement's tokens and the small steps from it: words, signs, names, literals; errors at a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.core.errors import NotSupported, SyntaxProblem
from sqlstream.sql.syntax.lexer import RESERVED, message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

E = TypeVar("E", bound=exp.Expr)
T = TypeVar("T")
_VALUES = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.HEX_STRING)
# More than any lookahead.
_BEYOND = 8
_PART = "Write JSON_VALUE(text, '$.path'), or JSON_QUERY for a part."
_PARAMETER = "A parameter has a value where its saved query is run: EXECUTE QUERY name (parameter => ..)."


def mark(node: E, token: Token) -> E:
    """``node`` with the place of ``token``."""
    return node.update_positions(token)


class Cursor:
    """Reads ``tokens`` of ``sql`` from left to right.

    Words and signs are asked for in upper case; strings and quoted names never match.
    """

    def __init__(self, sql: str, tokens: Sequence[Token]) -> None:
        self.sql = sql
        last = tokens[-1].end if tokens else 0
        end = Token(TokenType.SENTINEL, "", start=last, end=last)
        self.tokens = [*tokens, *[end] * _BEYOND]
        self.words = ["" if t.token_type in _VALUES else t.text.upper() for t in self.tokens]
        self.index = 0
        self.size = len(tokens)

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The next token; at the end one without text."""
        return self.tokens[self.index]

    @property
    def at_end(self) -> bool:
        return self.index >= self.size

    def at(self, *words: str) -> bool:
        """Whether the next tokens are these words and signs."""
        i = self.index
        if self.words[i] != words[0]:
            return False
        return len(words) == 1 or tuple(self.words[i : i + len(words)]) == words

    def peek(self, distance: int = 1) -> str:
        """The word or sign ``distance`` tokens on; empty for strings, quoted names and the end."""
        return self.words[self.index + distance]

    def at_string(self, distance: int = 0) -> bool:
        return self.tokens[self.index + distance].token_type == TokenType.STRING

    # --- moving -------------------------------------------------------------------------------------------------------

    def accept(self, *words: str) -> bool:
        """Pass these words and signs where they are next."""
        if self.at(*words):
            self.index += len(words)
            return True
        return False

    def expect(self, *words: str) -> Token:
        """Pass these words, or fail; the first of their tokens."""
        first = self.token
        for word in words:
            if not self.accept(word):
                self.unexpected(self.token, " ".join(words))
        return first

    def one_of(self, *words: str) -> str | None:
        """Pass the one of these words (of several words, maybe) that is next."""
        return next((w for w in words if self.accept(*w.split())), None)

    def word(self) -> str:
        """The next word in upper case; passes it."""
        token = self.token
        if token.token_type != TokenType.VAR:
            self.unexpected(token, "a word")
        self.index += 1
        return token.text.upper()

    def next_token(self) -> Token:
        token = self.token
        self.index += 1
        return token

    def rest(self) -> str:
        """The source text from here to the end; passes it."""
        start = self.token.start
        end = self.tokens[self.size - 1].end
        self.index = self.size
        return self.sql[start : end + 1]

    def text_from(self, start: Token) -> str:
        """The source text from ``start`` to the token before this place."""
        return self.sql[start.start : self.tokens[self.index - 1].end + 1]

    # --- names and literals -------------------------------------------------------------------------------------------

    def at_name(self) -> bool:
        token = self.token
        return token.token_type == TokenType.IDENTIFIER or (token.token_type == TokenType.VAR and token.text.upper() not in RESERVED)

    def name(self) -> exp.Identifier:
        """The identifier that is next; passes it."""
        token = self.token
        if not self.at_name():
            if token.token_type == TokenType.VAR:
                self._fail(token, f"{token.text} is a reserved word; as a name it is written `{token.text}`.")
            self.unexpected(token, "an identifier")
        self.index += 1
        return mark(exp.Identifier(this=token.text, quoted=token.token_type == TokenType.IDENTIFIER), token)

    def path(self, most: int = 3) -> exp.Table:
        """``[[catalog.]database.]name``."""
        start = self.token
        names = [self.name()]
        while self.accept("."):
            names.append(self.name())
        if len(names) > most:
            self.refuse(f"A name here has at most {most} parts.", start)
        table = exp.Table(this=names[-1])
        for key, name in zip(("db", "catalog"), names[-2::-1], strict=False):
            table.set(key, name)
        return mark(table, start)

    def string(self) -> exp.Literal:
        """The string literal that is next; passes it."""
        token = self.token
        if token.token_type != TokenType.STRING:
            self.unexpected(token, "a string in single quotes")
        self.index += 1
        return mark(exp.Literal(this=token.text, is_string=True), token)

    def integer(self) -> int:
        token = self.token
        if token.token_type != TokenType.NUMBER or not token.text.isdigit():
            self.unexpected(token, "a whole number")
        # As in Flink one of 32 bits; more digits than these are not even counted.
        digits = token.text.lstrip("0")
        if len(digits) > 10 or int(digits or "0") >= 2**31:
            self.refuse(f"Numeric literal '{token.text}' out of range", token)
        self.index += 1
        return int(digits or "0")

    # --- lists --------------------------------------------------------------------------------------------------------

    def csv(self, parse: Callable[[], T]) -> list[T]:
        """One or more, with commas between them."""
        items = [parse()]
        while self.accept(","):
            items.append(parse())
        return items

    def wrapped(self, parse: Callable[[], T]) -> list[T]:
        """``( one, more )``."""
        self.expect("(")
        items = self.csv(parse)
        self.expect(")")
        return items

    # --- errors -------------------------------------------------------------------------------------------------------

    def unexpected(self, token: Token, expected: str = "") -> NoReturn:
        """Fail at ``token``, which does not belong there."""
        if self.sql[token.start : token.end + 1] == ":" and self.sql[token.end + 1 : token.end + 2].isidentifier():
            self._fail(token, _PART if self.sql[max(0, token.start - 1) : token.start].isidentifier() else _PARAMETER)
        self._fail(token, f"Was expecting: {expected}" if expected else None)

    def refuse(self, text: str, token: Token, hint: str | None = None) -> NoReturn:
        """Fail with a message of its own: the text is not Flink SQL."""
        raise SyntaxProblem(text, at=token.start, hint=hint)

    def unsupported(self, text: str, token: Token, hint: str) -> NoReturn:
        """Fail at what is right in Flink but not here."""
        raise NotSupported(text, at=token.start, hint=hint)

    def _fail(self, token: Token, hint: str | None) -> NoReturn:
        shown = "<EOF>" if token.token_type == TokenType.SENTINEL else self.sql[token.start : token.end + 1]
        raise SyntaxProblem(message(self.sql, token.start, f'"{shown}"'), at=token.start, hint=hint)
