"""Properties of Kafka's Java clients as settings of librdkafka, which reads topics without a JVM.

In come the ``properties.*`` of a table, which are Java's. ``SAME`` have one name and meaning in both; what says how to log in and whom to trust is
translated; everything else tunes Java's client, or belongs to a consumer of it, and is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported, SetupError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "properties."
TOKENS = "sasl.oauthbearer.token.endpoint.url"
SAME = (
    "bootstrap.servers", "client.id", "client.rack", "metadata.max.age.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms", "sasl.mechanism",
    "ssl.key.password", TOKENS,
)  # fmt: skip
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_READS = "SELECT from a table of the topic reads it."
# Options of a line of JAAS.
_LOGIN = {"username": "sasl.username", "password": "sasl.password"}
_OAUTH = {"clientId": "sasl.oauthbearer.client.id", "clientSecret": "sasl.oauthbearer.client.secret", "scope": "sasl.oauthbearer.scope"}
_JAAS = re.compile(r"\s*[\w.$]+\s+(?:required|requisite|sufficient|optional)\b(?P<options>.*?);\s*", re.S | re.I)
_JAAS_OPTION = re.compile(r"""([\w.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""", re.S)
_PEM, _PKCS12 = b"-----BEGIN", b"\x30"
_AS_PEM = {
    "truststore": "Write its certificates as PEM (keytool -list -rfc -keystore {file} > ca.pem), and set 'properties.ssl.truststore.type' = 'PEM'.",
    "keystore": "Write it as PKCS12 (keytool -importkeystore -srckeystore {file} -destkeystore key.p12 -deststoretype PKCS12).",
}


def properties_of(options: Mapping[str, str]) -> dict[str, str]:
    """The properties for Kafka's clients among a table's options."""
    return {k.removeprefix(PREFIX): v for k, v in options.items() if k.startswith(PREFIX)}


def settings(properties: Mapping[str, str]) -> dict[str, str]:
    """The settings of librdkafka for ``properties`` of Java's clients. Raises SqlStreamError for what it can't do."""
    translated = {k: properties[k] for k in SAME if properties.get(k)}
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        hint = f"It is one of: {', '.join(PROTOCOLS)}."
        raise ValidationError(f"Invalid value for option 'properties.security.protocol': '{protocol}'.", hint=hint)
    translated["security.protocol"] = protocol
    if protocol.endswith("SSL"):
        translated |= _tls(properties)
    if protocol.startswith("SASL"):
        translated |= _login(properties)
    return translated


def _tls(properties: Mapping[str, str]) -> dict[str, str]:
    # Java's clients compare the broker's name with its certificate unless this is empty.
    algorithm = properties.get("ssl.endpoint.identification.algorithm", "https")
    translated = {"ssl.endpoint.identification.algorithm": algorithm.lower() or "none"}
    if trusted := properties.get("ssl.truststore.certificates"):
        translated["ssl.ca.pem"] = trusted
    elif file := properties.get("ssl.truststore.location"):
        if not _store("truststore", file).startswith(_PEM):
            _refuse("truststore", file)
        translated["ssl.ca.location"] = file
    if chain := properties.get("ssl.keystore.certificate.chain"):
        translated |= {"ssl.certificate.pem": chain, "ssl.key.pem": properties.get("ssl.keystore.key", "")}
    elif file := properties.get("ssl.keystore.location"):
        content = _store("keystore", file)
        if content.startswith(_PEM):
            translated |= {"ssl.certificate.location": file, "ssl.key.location": file}
        elif content.startswith(_PKCS12):
            translated |= {"ssl.keystore.location": file, "ssl.keystore.password": properties.get("ssl.keystore.password", "")}
        else:
            _refuse("keystore", file)
    return translated


def _store(kind: str, file: str) -> bytes:
    """The beginning of a file of certificates; in a PEM file comments may come first. Raises SetupError."""
    try:
        content = Path(file).read_bytes()
    except OSError as e:
        raise SetupError(f"The {kind} '{file}' cannot be read: {e.strerror}.", hint=f"Check 'properties.ssl.{kind}.location'.") from e
    begin = content.find(_PEM)
    return content[max(begin, 0) :][:16]


def _refuse(kind: str, file: str) -> None:
    what = f"The {kind} '{file}' is in a Java format, which can't be read here."
    raise NotSupported(what, hint=f"{_AS_PEM[kind].format(file=file)} As it is, {_READS}")


def _login(properties: Mapping[str, str]) -> dict[str, str]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    if mechanism not in MECHANISMS:
        what = f"The mechanism '{mechanism}' of 'properties.sasl.mechanism' is not supported here."
        raise NotSupported(what, hint=f"{', '.join(MECHANISMS)} are. As it is, {_READS}")
    line = properties.get("sasl.jaas.config", "")
    match = _JAAS.fullmatch(line)
    if match is None:
        what = (
            "'properties.sasl.jaas.config' is not a JAAS configuration."
            if line
            else f"The mechanism '{mechanism}' needs 'properties.sasl.jaas.config'."
        )
        hint = "Write: org.apache.kafka.common.security.plain.PlainLoginModule required username='..' password='..';"
        raise ValidationError(what, hint=hint)
    entries = {key: re.sub(r"\\(.)", r"\1", one or other or bare, flags=re.S) for key, one, other, bare in _JAAS_OPTION.findall(match["options"])}
    if mechanism != "OAUTHBEARER":
        if missing := [k for k in _LOGIN if k not in entries]:
            raise ValidationError(f"'properties.sasl.jaas.config' has no {' and no '.join(missing)}.")
        return {name: entries[key] for key, name in _LOGIN.items()}
    if not properties.get(TOKENS):
        raise ValidationError(f"The mechanism OAUTHBEARER needs 'properties.{TOKENS}'.", hint=f"A token is fetched from there. As it is, {_READS}")
    return {"sasl.oauthbearer.method": "oidc"} | {name: entries[key] for key, name in _OAUTH.items() if key in entries}
