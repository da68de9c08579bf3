"""Which servers the Java that comes along trusts: those that this machine trusts. The certificate of a company's proxy only the machine may know.

In: the machine's certificates, PEM. Out: an option of a JVM that names them as a key store of Java's. Another Java has its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import struct
import tempfile
from pathlib import Path

from sqlstream.core.java import comes_along

# Where systems keep the certificates of authorities: Debian, Red Hat, SUSE, macOS.
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem")
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_OPTION = "-Djavax.net.ssl.trustStore"
# Of the format JKS: its mark, its version, the kind of an entry that is trusted, what its digest begins with.
_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_SALT = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"


def options(java: Path, folder: Path) -> list[str]:
    """The options of a JVM of ``java``; the store is in ``folder``. None where it has its own, or the user names another. Raises OSError."""
    named = any(_OPTION in os.environ.get(name, "") for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"))
    bundle = None if named or not comes_along(java) else _bundle()
    if bundle is None:
        return []
    content = key_store(bundle.read_text(encoding="utf-8", errors="replace"))
    store = folder / "trusted.jks"
    if not store.exists() or store.read_bytes() != content:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=".trusted-", dir=folder)
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(part).replace(store)
    return [f"{_OPTION}={store}"]


def key_store(pem: str) -> bytes:
    """The certificates of ``pem``, as Java reads them."""
    certificates = [ssl.PEM_cert_to_DER_cert(text) for text in dict.fromkeys(_PEM.findall(pem))]
    entries = b"".join(
        struct.pack(">I", _TRUSTED) + _text(str(number)) + struct.pack(">Q", 0) + _text("X.509") + struct.pack(">I", len(der)) + der
        for number, der in enumerate(certificates)
    )
    content = struct.pack(">III", _MAGIC, _VERSION, len(certificates)) + entries
    return content + hashlib.sha1(_SALT + content).digest()


def _bundle() -> Path | None:
    named = os.environ.get("SSL_CERT_FILE")
    return next((path for path in map(Path, filter(None, (named, *BUNDLES))) if path.is_file()), None)


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
