"""A cluster with TLS and logins: PEEK, INFER, completion and the commands of ``sqlstream kafka``, by the properties of a table."""

import base64
import json
import subprocess
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from sqlstream.catalog.ddl import options_text
from sqlstream.cli.kafka import broker as module
from sqlstream.cli.kafka.broker import Broker, main
from sqlstream.cli.kafka.process import free_port
from sqlstream.connectors.kafka.client import BrokerError, KafkaClient
from sqlstream.core.errors import NotSupported
from sqlstream.core.java import require_java
from sqlstream.session.session import Session
from tests.support.sessions import open_session, submit
from tests.support.waiting import until

pytestmark = pytest.mark.kafka
# What a JVM may ask for tokens and keys.
ALLOWED = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
PASSWORD = 'in "quotes", \\ and ;'
SETTINGS = r"""
listener.name.tls.ssl.client.auth=required
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/ca.pem
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:ANONYMOUS
listener.name.login.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.login.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="in \\"quotes\\", \\\\ and ;";
listener.name.login.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.token.sasl.enabled.mechanisms=OAUTHBEARER
listener.name.token.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
listener.name.token.oauthbearer.sasl.server.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler
listener.name.token.oauthbearer.sasl.oauthbearer.jwks.endpoint.url={endpoint}
listener.name.token.oauthbearer.sasl.oauthbearer.expected.audience=kafka
"""


def run(folder, *command):
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def certificates(folder):
    """ca.pem, another.pem, and server.pem and client.pem with their keys, made by the first."""
    for name in ("ca", "another"):
        run(folder, *f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.pem -subj /CN={name} -days 2".split())
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    for name in ("server", "client"):
        run(folder, *f"openssl req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}".split())
        run(folder, *f"openssl x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.crt -days 2 -extfile names".split())
        (folder / f"{name}.pem").write_text((folder / f"{name}.key").read_text() + (folder / f"{name}.crt").read_text())
    run(folder, *"openssl pkcs12 -export -in client.crt -inkey client.key -out client.p12 -passout pass:changeit".split())
    # The program of this name is not part of every Java.
    keytool = (require_java(), "-m", "java.base/sun.security.tools.keytool.Main")
    run(folder, *keytool, *"-importcert -noprompt -storetype JKS -file ca.pem -keystore ca.jks -storepass changeit".split())


@pytest.fixture(scope="module")
def secured(folder, endpoint, tmp_path_factory):
    """The folder of the certificates, and the addresses of the listeners without TLS, with TLS, with a login, and with a token."""
    tls, login, token = free_port(), free_port(), free_port()
    plain = module.server_properties

    def properties(*given):
        lines = plain(*given).splitlines()
        more = {"listeners": f",TLS://127.0.0.1:{tls},LOGIN://127.0.0.1:{login},TOKEN://127.0.0.1:{token}"}
        more["listener.security.protocol.map"] = ",TLS:SSL,LOGIN:SASL_SSL,TOKEN:SASL_SSL"
        more["advertised.listeners"] = more["listeners"]
        return "\n".join(line + more.get(line.partition("=")[0], "") for line in lines) + SETTINGS.format(folder=folder, endpoint=endpoint)

    broker = Broker(tmp_path_factory.mktemp("secured"))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "server_properties", properties)
            patch.setattr(module, "BROKER_JVM", (*module.BROKER_JVM, f"-D{ALLOWED}={endpoint}"))
            started = broker.start(free_port())
        user = UserScramCredentialUpsertion("bob", ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), PASSWORD.encode())
        admin = AdminClient({"bootstrap.servers": started, "log_level": 0})
        for one in admin.alter_user_scram_credentials([user]).values():
            one.result(10)
        yield folder, started, f"127.0.0.1:{tls}", f"127.0.0.1:{login}", f"127.0.0.1:{token}"
    finally:
        broker.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """That of the certificates."""
    made = tmp_path_factory.mktemp("certificates")
    certificates(made)
    return made


def tls(secured, **more):
    folder, _, address, *_ = secured
    given = {
        "bootstrap.servers": address,
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
    }
    own = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(folder / "client.pem")}
    return KafkaClient(given | own | {k.replace("_", "."): v for k, v in more.items()})


def login(secured, mechanism="PLAIN", user="alice", password=PASSWORD):
    name = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    escaped = password.replace("\\", "\\\\").replace('"', '\\"')
    line = f'org.apache.kafka.common.security.{name} required username="{user}" password="{escaped}";'
    given = {"bootstrap.servers": secured[3], "security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": line}
    return KafkaClient(given | {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(secured[0] / "ca.pem")})


def unpadded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


class Tokens(BaseHTTPRequestHandler):
    """An endpoint that gives a client with the right secret a token for the audience that it asks for as scope; and the key that tokens are signed
    with.
    """

    folder: ClassVar[Path]

    def do_GET(self):
        shown = subprocess.run("openssl rsa -in server.key -noout -modulus".split(), cwd=self.folder, check=True, capture_output=True).stdout
        modulus = bytes.fromhex(shown.decode().strip().partition("=")[2])
        self.answer(200, {"keys": [{"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "e": "AQAB", "n": unpadded(modulus)}]})

    def do_POST(self):
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = base64.b64encode(b"carol:a secret").decode() in self.headers.get("Authorization", "")
        now = time.time()
        scope = asked.get("scope", [""])[0]
        claims = {"sub": "carol", "iat": now, "exp": now + 600, "scope": scope, "aud": scope}
        token = ".".join(unpadded(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "1"}, claims))
        sign = "openssl dgst -sha256 -sign server.key".split()
        token += "." + unpadded(subprocess.run(sign, cwd=self.folder, check=True, capture_output=True, input=token.encode()).stdout)
        answer = {"access_token": token, "token_type": "bearer", "expires_in": 600} if known else {"error": "invalid_client"}
        self.answer(200 if known else 401, answer)

    def answer(self, status, answer):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint(folder):
    Tokens.folder = folder
    with ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()


def bearer(secured, endpoint, secret="a secret", scope="kafka"):
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    line = f'{module} required clientId="carol" clientSecret="{secret}" scope="{scope}";'
    given = {"bootstrap.servers": secured[4], "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": line}
    trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(secured[0] / "ca.pem")}
    return KafkaClient(given | trusted | {"sasl.oauthbearer.token.endpoint.url": endpoint})


def test_tokens(secured, endpoint):
    client = bearer(secured, endpoint)
    client.create_topic("tokens", 2, {})
    assert client.topics()["tokens"] == 2
    assert client.produce("tokens", [(b"k", b"v")]) == 1
    assert [(r.key, r.value) for r in client.latest("tokens", 5)] == [(b"k", b"v")]
    assert [r.value for r in client.records("tokens", from_beginning=True, idle_s=1)] == [b"v"]


@pytest.mark.parametrize(("wrong", "said"), [({"secret": "wrong"}, "/token does not give one"), ({"scope": "other"}, "refuses the login")])
def test_tokens_that_are_refused(secured, endpoint, wrong, said):
    began = time.monotonic()
    with pytest.raises(BrokerError, match=said):
        bearer(secured, endpoint, **wrong).topics()
    assert time.monotonic() - began < 25


def test_certificates(secured):
    folder = secured[0]
    tls(secured).create_topic("seen", 2, {})
    assert tls(secured).topics()["seen"] == 2
    assert "seen" in tls(secured, ssl_keystore_location=str(folder / "client.p12"), ssl_keystore_password="changeit").topics()
    text = {"ssl_truststore_certificates": (folder / "ca.pem").read_text(), "ssl_keystore_certificate_chain": (folder / "client.crt").read_text()}
    assert "seen" in tls(secured, **text, ssl_keystore_key=(folder / "client.key").read_text()).topics()
    with pytest.raises(NotSupported, match="ca.jks"):
        tls(secured, ssl_truststore_location=str(folder / "ca.jks")).topics()
    port = secured[2].rpartition(":")[2]
    with pytest.raises(BrokerError, match="cannot be verified"):
        tls(secured, bootstrap_servers=f"localhost:{port}").topics()
    assert "seen" in tls(secured, bootstrap_servers=f"localhost:{port}", ssl_endpoint_identification_algorithm="").topics()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records(secured, mechanism, codec):
    client = login(secured, mechanism, "alice" if mechanism == "PLAIN" else "bob")
    client = replace(client, properties={**client.properties, "compression.type": codec})
    topic = f"{mechanism}-{codec}"
    client.create_topic(topic, 2, {"compression.type": "producer"})
    records = [(b"k%d" % (i % 7), b"value" * (i % 50)) for i in range(500)]
    assert client.produce(topic, records) == 500
    assert sorted((r.key, r.value) for r in client.latest(topic, 1000)) == sorted(records)
    assert len(client.latest(topic, 3)) == 3


@pytest.mark.parametrize(
    ("client", "said", "hint"),
    [
        (lambda s: login(s, password="wrong"), "refuses the login of 'alice'", "sasl.jaas.config"),
        (lambda s: login(s, "SCRAM-SHA-512", "bob", "wrong"), "refuses the login of 'bob'", "sasl.jaas.config"),
        (lambda s: login(s, "SCRAM-SHA-256"), "does not know the mechanism SCRAM-SHA-256", "sasl.mechanism"),
        (lambda s: tls(s, ssl_truststore_location=str(s[0] / "another.pem")), "cannot be verified", "ssl.truststore.location"),
        (lambda s: tls(s, ssl_keystore_location=""), "TLS", "ssl.keystore"),
        (lambda s: KafkaClient({"bootstrap.servers": s[2]}), "No Kafka broker answers", "security.protocol"),
        (lambda s: tls(s, bootstrap_servers=s[1]), "TLS", "security.protocol"),
        (lambda s: tls(s, ssl_keystore_location=str(s[0] / "client.p12"), ssl_keystore_password="x"), "No Kafka client", "passwords"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_soon(secured, client, said, hint):
    began = time.monotonic()
    with pytest.raises(BrokerError, match=said) as caught:
        client(secured).topics()
    assert hint in caught.value.hint
    assert time.monotonic() - began < 25


def test_rights(secured):
    hidden, open_ = login(secured), login(secured, "SCRAM-SHA-512", "bob")
    for topic in ("hidden", "open"):
        hidden.create_topic(topic, 1, {})
        hidden.produce(topic, [(None, b"x")])
    admin = AdminClient({"bootstrap.servers": secured[1], "log_level": 0})
    given = ("User:bob", "*", AclOperation.READ, AclPermissionType.DENY)
    denied = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, *given)
        for kind, name in ((ResourceType.TOPIC, "hidden"), (ResourceType.GROUP, "sqlstream"))
    ]
    denied.append(
        AclBinding(ResourceType.GROUP, "sqlstream", ResourcePatternType.LITERAL, "User:bob", "*", AclOperation.DESCRIBE, AclPermissionType.DENY)
    )
    denied.append(AclBinding(ResourceType.TOPIC, "open", ResourcePatternType.LITERAL, "User:bob", "*", AclOperation.WRITE, AclPermissionType.DENY))
    allowed = AclBinding(ResourceType.TOPIC, "*", ResourcePatternType.LITERAL, "User:*", "*", AclOperation.ALL, AclPermissionType.ALLOW)
    for one in admin.create_acls([*denied, allowed]).values():
        one.result(10)
    # The group is no more than a name, to which there need be no right.
    assert [r.value for r in open_.latest("open", 1)] == [b"x"]
    assert [r.value for r in open_.records("open", from_beginning=True, idle_s=1)] == [b"x"]
    with pytest.raises(BrokerError, match="'hidden' cannot be read: the user is not authorized|no topic 'hidden'"):
        open_.latest("hidden", 1)
    with pytest.raises(BrokerError, match="could not all be sent to 'open': the user is not authorized"):
        open_.produce("open", [(None, b"y")])


@pytest.mark.spark
@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
@pytest.mark.parametrize("how", ["certificate", "PLAIN", "SCRAM-SHA-512", "token"])
def test_jobs(secured, endpoint, tmp_path, engine, how, guarantee):
    """Spark's source and both sinks, by the same properties."""
    match how:
        case "certificate":
            client = tls(secured)
        case "token":
            client = bearer(secured, endpoint)
            handler = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
            client = replace(client, properties={**client.properties, "sasl.login.callback.handler.class": handler})
        case mechanism:
            client = login(secured, mechanism, "alice" if mechanism == "PLAIN" else "bob")
    source, target = f"{how}-{guarantee}-in", f"{how}-{guarantee}-out"
    client.create_topic(source, 2, {})
    client.create_topic(target, 1, {})
    client.produce(source, [(None, b'{"n": %d}' % n) for n in range(10)])
    options = {f"properties.{k}": v for k, v in client.properties.items()} | {"connector": "kafka", "format": "json"}
    reading = {**options, "topic": source, "scan.startup.mode": "earliest-offset"}
    writing = {**options, "topic": target, "sink.delivery-guarantee": guarantee, "sink.transactional-id-prefix": how}
    declared = f"CREATE TABLE i (n INT) {options_text(reading.items())};\nCREATE TABLE o (n INT) {options_text(writing.items())};"
    session = open_session(tmp_path, declared, engine=engine)
    try:
        submit(session, "INSERT INTO o SELECT n * 10 FROM i")
        until(lambda: len(client.latest(target, 100)) >= 10, 60)
        assert sorted(json.loads(r.value)["n"] for r in client.latest(target, 100)) == [n * 10 for n in range(10)]
    finally:
        session.close()


def test_by_the_table(secured, tmp_path, monkeypatch, capfdbinary):
    client = login(secured)
    (tmp_path / "catalog").mkdir()
    monkeypatch.setenv("ALICE", client.properties["sasl.jaas.config"])
    written = {**client.properties, "sasl.jaas.config": "${env:ALICE}", "max.poll.records": "50", "group.id": "g"}
    options = "".join(f", 'properties.{k}' = '{v}'" for k, v in written.items())
    (tmp_path / "catalog" / "shop.sql").write_text(
        f"CREATE TABLE shop (n INT) WITH ('connector' = 'kafka', 'topic' = 'shop', 'format' = 'json'{options});"
    )
    lines = tmp_path / "lines"
    lines.write_text('a={"n": 1}\na={"n": 2}\n')
    command = ["--project", str(tmp_path)]
    assert main([*command, "produce", "--table", "shop", "--partitions", "2", "--key-separator", "=", "shop", str(lines)]) == 0
    assert main([*command, "topics", "--table", "shop"]) == 0
    assert main([*command, "consume", "--table", "shop", "--from-beginning", "--max-messages", "2", "--key-separator", "|", "shop"]) == 0
    out = capfdbinary.readouterr().out
    assert b"2 records sent to shop" in out and b"shop\t2 partitions" in out and out.endswith(b'a|{"n": 1}\na|{"n": 2}\n')
    session = Session(tmp_path, notify=print)
    (peeked,) = session.run("PEEK 'shop'")
    assert [row[3:] for row in peeked.rows] == [("a", '{"n": 1}'), ("a", '{"n": 2}')]
    (shown,) = session.run("INFER TABLE again FROM 'shop'")
    assert "'properties.security.protocol' = 'SASL_SSL'" in shown.lines and "'properties.sasl.jaas.config' = '${env:ALICE}'" in shown.lines
    assert "properties.group.id" not in shown.lines
    until(lambda: "shop" in session.completion().topics({}))
