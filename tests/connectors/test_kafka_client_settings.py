"""Properties of Java's clients as settings of librdkafka."""

import pytest

from sqlstream.connectors.kafka.client_settings import settings
from sqlstream.core.errors import NotSupported, SetupError, ValidationError

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="a\\\\b\\"c;";'


def test_what_only_java_knows_is_left_out():
    given = {
        "bootstrap.servers": "b:1",
        "client.id": "me",
        "max.poll.records": "5",
        "key.deserializer": "x",
        "ssl.protocol": "TLSv1.3",
        "group.id": "g",
    }
    assert settings(given) == {"bootstrap.servers": "b:1", "client.id": "me", "security.protocol": "PLAINTEXT"}
    # Without TLS nothing of it is looked at.
    assert settings({"ssl.truststore.location": "/nowhere", "sasl.jaas.config": "?"}) == {"security.protocol": "PLAINTEXT"}


def test_login():
    plain = settings({"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN})
    assert plain == {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": 'a\\b"c;',
    }  # fmt: skip
    line = "org.apache.flink.kafka.shaded.org.apache.kafka.common.security.scram.ScramLoginModule required\n  password='p w'\n  username=bob;"
    scram = settings({"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": line})
    assert (scram["sasl.username"], scram["sasl.password"]) == ("bob", "p w")
    line = "x.OAuthBearerLoginModule required clientId='i' clientSecret='s' scope='a b';"
    given = {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": line, "sasl.oauthbearer.token.endpoint.url": "https://h/t"}
    assert settings({"security.protocol": "SASL_PLAINTEXT", **given}) == {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": "i",
        "sasl.oauthbearer.client.secret": "s", "sasl.oauthbearer.scope": "a b", "sasl.oauthbearer.token.endpoint.url": "https://h/t",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"security.protocol": "TLS"}, ValidationError, "security.protocol"),
        ({"security.protocol": "SASL_SSL"}, NotSupported, "'GSSAPI'"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "AWS_MSK_IAM"}, NotSupported, "'AWS_MSK_IAM'"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, ValidationError, "needs 'properties.sasl.jaas.config'"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "secret"}, ValidationError, "not a JAAS configuration"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "x.P required username='a';"},
            ValidationError,
            "no password",
        ),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": "x.O required clientId='a' clientSecret='secret';",
            },
            ValidationError,
            "needs 'properties.sasl.oauthbearer.token.endpoint.url'",
        ),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/nowhere.pem"}, SetupError, "truststore '/nowhere.pem' cannot be read"),
    ],
)
def test_refused(given, kind, said):
    with pytest.raises(kind, match=said) as caught:
        settings(given)
    assert "secret" not in str(caught.value)


def test_files_of_certificates(tmp_path):
    pem, jks, p12 = (tmp_path / f"store.{end}" for end in ("pem", "jks", "p12"))
    pem.write_bytes(b"Bag Attributes\n    friendlyName: ca\n-----BEGIN CERTIFICATE-----\n")
    jks.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    p12.write_bytes(b"\x30\x82\x01\x00")
    tls = {"security.protocol": "SSL"}
    assert settings({**tls, "ssl.truststore.location": str(pem), "ssl.endpoint.identification.algorithm": ""}) == {
        "security.protocol": "SSL", "ssl.ca.location": str(pem), "ssl.endpoint.identification.algorithm": "none",
    }  # fmt: skip
    for file in (jks, p12):
        with pytest.raises(NotSupported, match="truststore") as caught:
            settings({**tls, "ssl.truststore.location": str(file)})
        assert "PEM" in caught.value.hint
    found = settings({**tls, "ssl.keystore.location": str(pem), "ssl.key.password": "p"})
    assert (found["ssl.certificate.location"], found["ssl.key.location"], found["ssl.key.password"]) == (str(pem), str(pem), "p")
    found = settings({**tls, "ssl.keystore.location": str(p12), "ssl.keystore.password": "p"})
    assert (found["ssl.keystore.location"], found["ssl.keystore.password"]) == (str(p12), "p")
    with pytest.raises(NotSupported, match="keystore") as caught:
        settings({**tls, "ssl.keystore.location": str(jks)})
    assert "PKCS12" in caught.value.hint
    found = settings({**tls, "ssl.truststore.certificates": "A", "ssl.keystore.certificate.chain": "B", "ssl.keystore.key": "C"})
    assert (found["ssl.ca.pem"], found["ssl.certificate.pem"], found["ssl.key.pem"]) == ("A", "B", "C")
    assert found["ssl.endpoint.identification.algorithm"] == "https"
