"""A connection to the service that is used again, on which nothing takes longer than it may."""

from __future__ import annotations

import io
import os
import select
import socket
import ssl
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import Any

from .address import Address, Secret, headers_of
from .answers import Reply
from .exchange import Request, Unanswered

_PIECE = 64 << 10


class _Timed(io.RawIOBase):
    """A socket as `http.client` uses it, with a deadline for all that is sent and received.

    The time-out of a socket is for one piece, and a server that sends a byte every second would
    never reach it.
    """

    def __init__(self, socket_: socket.socket, deadline: float) -> None:
        self._socket, self._deadline = socket_, deadline

    def _limit(self) -> None:
        self._socket.settimeout(_left(self._deadline))

    def sendall(self, data: Any) -> None:
        rest = memoryview(data)
        while rest:
            self._limit()
            rest = rest[self._socket.send(rest[:_PIECE]) :]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._limit()
        return self._socket.recv_into(buffer)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def close(self) -> None:
        """Does nothing: the socket belongs to the connection."""


class Connection:
    """One connection, for one thread."""

    def __init__(self, address: Address, secret: Secret, trust: ssl.SSLContext | None) -> None:
        self._address, self._secret, self._trust = address, secret, trust
        self._socket: socket.socket | None = None
        self._process = 0

    def send(self, request: Request[Any], deadline: float) -> Reply:
        """Sends a request, and returns the answer; raises `Unanswered` if none arrives."""
        held = self._reuse()
        used, timed = held is not None, None
        try:
            timed = _Timed(held or self._connect(deadline), deadline)
            return self._exchange(request, timed)
        except (OSError, HTTPException, ValueError) as error:
            # ValueError: another thread has closed the socket.
            self.close()
            stale = used and isinstance(error, (ConnectionError, ssl.SSLError))
            late = isinstance(error, TimeoutError)
            raise Unanswered(error, late, sent=timed is not None, stale=stale) from None
        except BaseException:  # Ctrl-C: what follows on this connection would be the old answer
            self.close()
            raise

    def close(self) -> None:
        """Closes the connection; it can be opened again."""
        held, self._socket = self._socket, None
        if held is not None:
            held.close()

    def __del__(self) -> None:
        self.close()

    def _reuse(self) -> socket.socket | None:
        """The connection, if it can be used again."""
        held = self._socket
        # After a fork the connection belongs to the other process. If there is something to read
        # although nothing was asked, then the server has closed it.
        if held is not None and self._process == os.getpid() and not _is_readable(held):
            return held
        self.close()
        return None

    def _connect(self, deadline: float) -> socket.socket:
        """A connection to the first address of the host that takes one."""
        host, port = self._address.host, self._address.port
        last: OSError | None = None
        for family, kind, protocol, _, place in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        ):
            made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(_left(deadline))
                made.connect(place)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._trust is not None:
                    made.settimeout(_left(deadline))
                    made = self._trust.wrap_socket(made, server_hostname=host)
            except BaseException as error:
                made.close()
                if not isinstance(error, OSError) or isinstance(error, ssl.SSLError):
                    raise
                last = error
            else:
                self._socket, self._process = made, os.getpid()
                return made
        raise last or OSError(f"{host} has no address")

    def _exchange(self, request: Request[Any], timed: _Timed) -> Reply:
        spoken = HTTPConnection(self._address.host, self._address.port)
        spoken.set_debuglevel(0)  # it would print the key
        spoken.auto_open = 0
        spoken.sock = timed
        spoken.putrequest(
            request.method,
            self._address.target(request.path),
            skip_host=True,
            skip_accept_encoding=True,
        )
        spoken.putheader("Host", self._address.authority)
        for name, value in headers_of(request.key, request.body is not None).items():
            spoken.putheader(name, value)
        for name, value in self._secret.headers().items():
            spoken.putheader(name, value)
        if request.body is not None:
            spoken.putheader("Content-Length", str(len(request.body)))
        spoken.endheaders(request.body)
        with spoken.getresponse() as response:
            body = _body(response, request.most)
            headers = {name.lower(): value for name, value in response.getheaders()}
            if response.will_close:
                self.close()
            return Reply(response.status, headers, body)


def _left(deadline: float) -> float:
    """The seconds that are left."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


def _is_readable(held: socket.socket) -> bool:
    try:
        if not hasattr(select, "poll"):  # Windows, where `select` takes sockets of any number
            return bool(select.select([held], [], [], 0)[0])
        poll = select.poll()
        poll.register(held, select.POLLIN)
        return bool(poll.poll(0))
    except (OSError, ValueError):  # another thread has closed it
        return True


def _body(response: HTTPResponse, most: int) -> bytes:
    """The body, if it is not longer than it may be, and has arrived completely."""
    pieces, length = [], 0
    while piece := response.read(_PIECE):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            raise TooLong(most)
    if response.length:
        raise IncompleteRead(b"", response.length)
    return b"".join(pieces)


class TooLong(HTTPException):
    """An answer without an end."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the answer has more than {most >> 20} MiB")
