"""Schema registries with Confluent's interface: the options of formats whose records begin with the number of their schema.

In: options. Out: the settings that ``SchemaRegistry.java`` takes. It asks for schemas, and adds them, where records are read and written.
"""

from __future__ import annotations

import base64
import json
import struct
import urllib.request
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from sqlstream.core.errors import NotSupported, SetupError, ValidationError
from sqlstream.core.options import Option, OptionKind, Role, value

if TYPE_CHECKING:
    from collections.abc import Mapping

# What Flink called three of the options before.
_OLD = "schema-registry."
_IN_URL, _OF_USER, _STATIC = "URL", "USER_INFO", "STATIC_TOKEN"
# The properties of Confluent's client that say what an option says, too, or more.
_OF_OPTIONS = {
    "schema.registry.ssl.keystore.location": "ssl.keystore.location",
    "schema.registry.ssl.keystore.password": "ssl.keystore.password",
    "schema.registry.ssl.truststore.location": "ssl.truststore.location",
    "schema.registry.ssl.truststore.password": "ssl.truststore.password",
    "basic.auth.credentials.source": "basic-auth.credentials-source",
    "basic.auth.user.info": "basic-auth.user-info",
    "bearer.auth.credentials.source": "bearer-auth.credentials-source",
    "bearer.auth.token": "bearer-auth.token",
}
_OTHERS = (
    "schema.registry.ssl.truststore.type", "schema.registry.ssl.keystore.type", "schema.registry.ssl.key.password", "proxy.host", "proxy.port",
)  # fmt: skip


def _access(key: str, summary: str, default: str | None = None, *, kind: OptionKind = OptionKind.STRING, sample: str | None = None) -> Option:
    return Option(key, kind, default, summary, role=Role.TUNING, sample=sample)


_USER = "USER_INFO: basic-auth.user-info has name and password; URL: the address has them."
URL = _access("url", "The addresses of the schema registry, separated by commas.", sample="http://host:8081")
SUBJECT = Option("subject", OptionKind.STRING, summary="The subject of the schemas that are written; by default <topic>-value or <topic>-key.")
SCHEMA = Option("schema", OptionKind.STRING, summary="The schema of the records, instead of the one derived from the columns.")
ACCESS = (
    _access("basic-auth.credentials-source", _USER, _IN_URL),
    _access("basic-auth.user-info", "name:password.", sample="name:password"),
    _access("bearer-auth.credentials-source", "STATIC_TOKEN: bearer-auth.token has a token.", sample=_STATIC),
    _access("bearer-auth.token", "The token."),
    _access("ssl.truststore.location", "The file of the certificates that are trusted."),
    _access("ssl.truststore.password", "Its password."),
    _access("ssl.keystore.location", "The file of our own certificate and key."),
    _access("ssl.keystore.password", "Its password."),
    _access("properties", "Properties of Confluent's client: key:value,key:value.", kind=OptionKind.MAP),
    _access("properties.*", "One of these properties."),
)
OPTIONS = (URL, SUBJECT, SCHEMA, *(replace(o, key=_OLD + o.key, summary=f"The same as {o.key}.") for o in (URL, SUBJECT, SCHEMA)), *ACCESS)


def named(options: Mapping[str, str], key: str) -> str | None:
    """The value of an option that had another name before."""
    return options.get(key, options.get(_OLD + key))


def with_subject(options: dict[str, str], topic: str, part: str) -> dict[str, str]:
    """``options`` with the usual subject of the schemas of a topic's ``part``, key or value, unless they name one."""
    return options if named(options, "subject") is not None or not topic or ";" in topic else {**options, "subject": f"{topic}-{part}"}


def subject(format_: str, options: Mapping[str, str]) -> str:
    """The subject of what is written in a format. Raises ValidationError."""
    found = named(options, "subject")
    if found is None:
        raise ValidationError(f"Option {format_}.subject is required for serialization", hint=SUBJECT.summary)
    return found


def check(options: Mapping[str, str], *, at: Any = None) -> None:
    """Check what the options mean together. Raises ValidationError, NotSupported."""
    if named(options, "url") is None:
        message = "One or more required options are missing.\n\nMissing required options are:\n\nurl"
        raise ValidationError(message, at=at, hint="It is the address of the schema registry: 'http://host:8081'.")
    settings(options, at=at)


def settings(options: Mapping[str, str], *, at: Any = None) -> str:
    """How a registry is reached, as JSON; with secrets. Raises ValidationError, NotSupported."""
    given = _given(options, at)
    urls = [urlsplit(text.strip().rstrip("/")) for text in (named(options, "url") or "").split(",") if text.strip()]
    for url in urls:
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValidationError(f"'{url.geturl()}' is not the address of a schema registry.", at=at, hint="Write 'http://host:8081'.")
    found: dict[str, Any] = {"urls": [url._replace(netloc=url.netloc.rpartition("@")[2]).geturl() for url in urls]}
    if (authorization := _authorization(given, next((u.netloc.rpartition("@")[0] for u in urls if "@" in u.netloc), None), at)) is not None:
        found["authorization"] = authorization
    for store in ("truststore", "keystore"):
        described = {part: given[f"ssl.{store}.{part}"] for part in ("location", "password") if f"ssl.{store}.{part}" in given}
        if "location" in described:
            if (kind := given.get(f"schema.registry.ssl.{store}.type")) is not None:
                described["type"] = kind
            if store == "keystore" and "schema.registry.ssl.key.password" in given:
                described["key_password"] = given["schema.registry.ssl.key.password"]
            found[store] = described
    if "proxy.host" in given:
        found["proxy"] = {"host": given["proxy.host"], "port": int(given.get("proxy.port", "80"))}
    return json.dumps(found, sort_keys=True)


def _given(options: Mapping[str, str], at: Any) -> dict[str, str]:
    """The options and the properties of the client, under the options' names where they have such; options count more, as in Flink."""
    properties: dict[str, str] = dict(value(options, ACCESS, "properties") or {})
    properties |= {key.removeprefix("properties."): text for key, text in options.items() if key.startswith("properties.")}
    for key in properties:
        if key not in _OF_OPTIONS and key not in _OTHERS:
            raise NotSupported(
                f"Property '{key}' of a schema registry's client has no counterpart here.",
                at=at,
                hint=f"These have: {', '.join(sorted((*_OF_OPTIONS, *_OTHERS)))}.",
            )
    return {**{_OF_OPTIONS.get(key, key): text for key, text in properties.items()}, **options}


def _authorization(given: Mapping[str, str], of_url: str | None, at: Any) -> str | None:
    """The header by which a request says who asks."""
    bearer = given.get("bearer-auth.credentials-source")
    if bearer is not None:
        if bearer.upper() != _STATIC:
            hint = "Set it to 'STATIC_TOKEN', and 'bearer-auth.token' to a token."
            raise NotSupported(f"Option 'bearer-auth.credentials-source' can't be '{bearer}'.", at=at, hint=hint)
        if "bearer-auth.token" not in given:
            raise ValidationError("'bearer-auth.credentials-source' = 'STATIC_TOKEN' needs the option 'bearer-auth.token'.", at=at)
        return f"Bearer {given['bearer-auth.token']}"
    source = given.get("basic-auth.credentials-source", _IN_URL).upper()
    if source not in (_IN_URL, _OF_USER):
        hint = "Set it to 'USER_INFO', and 'basic-auth.user-info' to 'name:password'."
        raise NotSupported(f"Option 'basic-auth.credentials-source' can't be '{source}'.", at=at, hint=hint)
    if source == _OF_USER and "basic-auth.user-info" not in given:
        raise ValidationError("'basic-auth.credentials-source' = 'USER_INFO' needs the option 'basic-auth.user-info'.", at=at)
    user = given["basic-auth.user-info"] if source == _OF_USER else None if of_url is None else unquote(of_url)
    return None if user is None else "Basic " + base64.b64encode(user.encode()).decode()


def notices(options: Mapping[str, str]) -> list[str]:
    """Notices about options without effect, as in Flink."""
    given = _given(options, None)
    if "basic-auth.user-info" in given and given.get("basic-auth.credentials-source", _IN_URL).upper() != _OF_USER:
        return ["Option 'basic-auth.user-info' has no effect without 'basic-auth.credentials-source' = 'USER_INFO'."]
    if "bearer-auth.token" in given and "bearer-auth.credentials-source" not in given:
        return ["Option 'bearer-auth.token' has no effect without 'bearer-auth.credentials-source' = 'STATIC_TOKEN'."]
    return []


PROTOBUF = "PROTOBUF"
_PREFIX = struct.Struct(">bi")


def schema_id(record: bytes) -> int | None:
    """The number of the schema that a record begins with; None where it begins otherwise."""
    return _PREFIX.unpack_from(record)[1] if len(record) > _PREFIX.size and record[0] == 0 else None


def body(record: bytes) -> bytes:
    """What stands behind the number."""
    return record[_PREFIX.size :]


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema: ``kind`` is AVRO, JSON or PROTOBUF, whose text is a FileDescriptorProto in Base64; ``parts`` are those that it refers to, by name, in
    the order in which they can be read."""

    kind: str
    text: str
    parts: Mapping[str, str] = field(default_factory=dict)


def fetched(options: Mapping[str, str], number: int) -> RegisteredSchema:
    """The schema with a number, of the registry that the options of a format lead to. Raises SetupError, ValidationError."""
    access = json.loads(settings(options))
    if "truststore" in access or "keystore" in access:
        raise SetupError("The certificates of a Java store are read by jobs only.", hint="Write the CREATE TABLE by hand.")

    def parts(answer: Mapping[str, Any], form: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for reference in answer.get("references", []):
            other = _asked(access, f"/subjects/{quote(reference['subject'], safe='')}/versions/{reference['version']}{form}")
            found |= {**parts(other, form), reference["name"]: other["schema"]}
        return found

    answer, form = _asked(access, f"/schemas/ids/{number}"), ""
    if answer.get("schemaType") == PROTOBUF:
        form = "?format=serialized"
        answer = _asked(access, f"/schemas/ids/{number}{form}")
    return RegisteredSchema(answer.get("schemaType", "AVRO"), answer["schema"], parts(answer, form))


def _asked(access: Mapping[str, Any], path: str) -> Any:
    """The answer of the first of the addresses that has one."""
    headers = {"Authorization": access["authorization"]} if "authorization" in access else {}
    problem: Exception | None = None
    for url in access["urls"]:
        try:
            with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers), timeout=10) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            problem = problem or error
    raise SetupError(f"The schema registry {access['urls'][0]} does not answer: {problem}.", hint="Check its address, and that it runs.")
