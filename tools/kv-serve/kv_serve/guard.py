"""Who may ask: browsers of which pages, under which names of this machine, and clients with which keys."""

import dataclasses
import hashlib
import hmac
import ipaddress
import urllib.parse

from starlette.middleware.cors import CORSMiddleware

from .connection import refusal
from .errors import RequestError, cut
from .request_log import header


@dataclasses.dataclass(frozen=True)
class Access:
    """hosts: names under which browsers may know the server; None: any. origins: of web pages that may use it, "*"
    for all. keys: of clients; none: nobody is asked for one."""

    hosts: frozenset = None
    origins: tuple = ()
    keys: tuple = ()


def is_loopback(name):
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def guarded(application, access):
    """The application, for those who may use it."""
    application = _Keys(application, access.keys) if access.keys else application
    if access.origins:
        application = CORSMiddleware(application, allow_origins=access.origins, allow_methods=("GET", "POST", "DELETE"),
                                     allow_headers=("*",), expose_headers=("X-Request-Id",))
    return _Names(application, access)


_OPEN = ("/health", "/")


class _Guard:
    def __init__(self, application):
        self._application = application

    async def __call__(self, scope, receive, send):
        error = self.check(scope) if scope["type"] == "http" else None
        if error is None:
            await self._application(scope, receive, send)
        else:
            more = {"www-authenticate": "Bearer"} if error.status == 401 else None
            await refusal(error, more)(scope, receive, send)


class _Names(_Guard):
    """A page from elsewhere can have a browser send requests to this machine; and if its own name leads here, read
    the answers. The first shows in Origin, the second in Host."""

    def __init__(self, application, access):
        super().__init__(application)
        self._access = access

    def check(self, scope):
        host, origin = header(scope, b"host"), header(scope, b"origin")
        if self._access.hosts is not None and host is not None:
            name = _name(host)
            if not is_loopback(name) and name not in self._access.hosts:
                return RequestError(403, f"the host {cut(repr(name))} is not served here, allowed: "
                                         f"{', '.join(['localhost', *sorted(self._access.hosts)])}; --allow-host adds "
                                         "one")
        if scope["method"] in ("POST", "DELETE") and origin is not None and not self._is_own(origin, host):
            return RequestError(403, f"pages of {cut(repr(origin))} may not use this server; --allow-origin lets them")
        return None

    def _is_own(self, origin, host):
        if "*" in self._access.origins or origin in self._access.origins:
            return True
        return host is not None and origin.partition("://")[2].lower() == host.lower()


def _name(host):
    """Of what Host says, without the port."""
    try:
        return (urllib.parse.urlsplit(f"//{host}").hostname or "").removesuffix(".")
    except ValueError:
        return host


class _Keys(_Guard):
    """Whoever watches the server may ask for its health without one. The page asks its reader for one. Of several keys
    each is a tenant."""

    def __init__(self, application, keys):
        super().__init__(application)
        self._digests = [_digest(key) for key in keys]

    def check(self, scope):
        if scope["path"] in _OPEN:
            return None
        scheme, _, key = (header(scope, b"authorization") or "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            return RequestError(401, "an API key is needed: Authorization: Bearer KEY", None, "invalid_api_key")
        given = _digest(key.strip())
        # All are looked at, in the same time whatever is given.
        same = [hmac.compare_digest(given, digest) for digest in self._digests]
        if not sum(same):
            return RequestError(401, "the API key is none of this server's", None, "invalid_api_key")
        if len(same) > 1:
            scope.setdefault("state", {})["tenant"] = f"key {same.index(True)}"
        return None


def _digest(key):
    return hashlib.sha256(key.encode()).digest()
