"""Where a service is, and the key to it, which must not be seen anywhere."""

from __future__ import annotations

import os
import re
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from .. import _core

AGENT = f"plausibly/{_core.__version__}"


class Secret:
    """A key. It is not in its own repr, so it is not in a printout of local variables either."""

    __slots__ = ("_key",)

    def __init__(self, key: object) -> None:
        if key is not None and not isinstance(key, str):
            raise TypeError(f"key: expected text, found {type(key).__name__}")
        if key is not None and not re.fullmatch(r"[!-~]{1,512}", key):
            # Without the key: errors are logged.
            raise ValueError("key: expected plk_ and 64 digits; this has other signs or a space")
        self._key = key

    @classmethod
    def of(cls, key: str | None) -> Secret:
        """The given key, or that of the environment."""
        return cls(os.environ.get("PLAUSIBLY_KEY") or None if key is None else key)

    def hide(self, text: str) -> str:
        """The text without the key."""
        return text if self._key is None else text.replace(self._key, "(the key)")

    def headers(self) -> dict[str, str]:
        """The header that carries the key."""
        return {} if self._key is None else {"Authorization": f"Bearer {self._key}"}

    def __repr__(self) -> str:
        return "no key" if self._key is None else "(the key)"


@dataclass(frozen=True)
class Address:
    """The address of a service."""

    secure: bool
    host: str
    port: int
    authority: str
    """The host and the port as they were given."""
    path: str
    """What stands before `/v1`."""

    @classmethod
    def of(cls, base: object) -> Address:
        """Reads an address such as `http://127.0.0.1:8017`."""
        if not isinstance(base, str):
            raise TypeError(f"base: expected an address, found {type(base).__name__}")
        try:
            parts = urlsplit(base)
            port = parts.port
        except ValueError as error:
            raise ValueError(f"base: not an address: {error}") from None
        if parts.username is not None or parts.password is not None:
            raise ValueError("base: a key does not belong into the address; pass it as key")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                "base: expected an address such as http://127.0.0.1:8017 or https://HOST"
            )
        if parts.query or parts.fragment or not re.fullmatch(r"[!-~]*", base):
            raise ValueError("base: expected an address without spaces, '?' and '#'")
        secure = parts.scheme == "https"
        usual = 443 if secure else 80
        path = parts.path.rstrip("/")
        return cls(secure, parts.hostname, port or usual, parts.netloc, path)

    def target(self, path: str) -> str:
        """The path of a request as it is sent."""
        return f"{self.path}/v1{path}"

    def __str__(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.authority}{self.path}"

    def trust(self, cafile: str | os.PathLike[str] | None) -> ssl.SSLContext | None:
        """How the certificate of the service is checked; None without TLS."""
        if cafile is not None and not isinstance(cafile, (str, os.PathLike)):
            raise TypeError(f"cafile: expected a path, found {type(cafile).__name__}")
        if not self.secure:
            if cafile is not None:
                raise ValueError(f"cafile: {self} does not use TLS; give an address with https")
            return None
        return ssl.create_default_context(cafile=cafile)


def headers_of(key: str | None, has_body: bool) -> dict[str, str]:
    """The headers of a request, without those that say where it goes and by whom."""
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": AGENT}
    if has_body:
        headers["Content-Type"] = "application/json"
    if key is not None:
        headers["Idempotency-Key"] = key
    return headers
