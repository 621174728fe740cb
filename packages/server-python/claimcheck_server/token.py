from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, List, Optional
from urllib.parse import quote

from .error import ClaimcheckError
from .request import require_options, send
from .types import TokenKey

# How long the service publishes a replaced key.
_MAX_AGE_SECONDS = 24 * 3600
_REFRESH_SECONDS = 5 * 60
_MIN_REFRESH_SECONDS = 10


@dataclass
class _KeySet:
    keys: List[TokenKey]
    fetched_at: float
    tried_at: float


_key_sets: Dict[str, _KeySet] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class VerifiedToken:
    """The content of a valid token. expires_at and until are in seconds since 1970; until is None without an end."""

    username: str
    entitlements: Dict[str, Dict[str, Any]]
    expires_at: int
    nonce: Optional[str]

    def has_entitlement(self, name: str) -> bool:
        """Whether an entitlement is active now."""
        entitlement = self.entitlements.get(name)
        return entitlement is not None and (entitlement["until"] is None or entitlement["until"] > time.time())


def verify_token(token: str, *, url: str, app_name: str, timeout_seconds: float = 5.0) -> VerifiedToken:
    """Verifies an entitlement token (ES256) without a request for each token.

    The public keys are cached for five minutes, or up to a day while the service is unavailable. An unknown key causes a
    request, at most one in ten seconds. Raises ClaimcheckError with InvalidToken, or Unreachable if the first request
    for the keys fails. The standard library cannot verify ES256, so this function needs the package cryptography:
    without it, it raises ImportError.
    """
    require_options(url=url, app_name=app_name)
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ec, utils
        from cryptography.hazmat.primitives.hashes import SHA256
    except ImportError as error:
        raise ImportError("verify_token needs cryptography: pip install cryptography") from error
    parts = token.split(".")
    header = _parse(parts[0])
    if len(parts) != 3 or header.get("alg") != "ES256" or header.get("typ") != "entitlements+jwt":
        raise _invalid_token("The token is not of this service.")
    jwk = _find_key(url, app_name, header.get("kid"), timeout_seconds)
    if jwk is None:
        raise _invalid_token("The token is not of this service.")
    x, y = (int.from_bytes(_decode(jwk[name]), "big") for name in ("x", "y"))
    signature = _decode(parts[2])
    pair = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    try:
        if len(signature) != 64:
            raise InvalidSignature
        key.verify(pair, f"{parts[0]}.{parts[1]}".encode(), ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise _invalid_token("The signature is invalid.") from None
    claims = _parse(parts[1])
    if claims["iss"] != url.rstrip("/"):
        raise _invalid_token(f"The token is of {claims['iss']}.")
    if claims["aud"] != app_name:
        raise _invalid_token(f"The token is for {claims['aud']}.")
    if not claims["exp"] > time.time():
        raise _invalid_token("The token has expired.")
    return VerifiedToken(claims["sub"], claims["entitlements"], claims["exp"], claims.get("nonce"))


def _invalid_token(message: str) -> ClaimcheckError:
    return ClaimcheckError("InvalidToken", message)


def _decode(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise _invalid_token("The token is not a JWT.") from None


def _parse(part: str) -> Dict[str, Any]:
    try:
        content = json.loads(_decode(part))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise _invalid_token("The token is not a JWT.")
    return content


def _find_key(url: str, app_name: str, kid: Any, timeout_seconds: float) -> Optional[TokenKey]:
    path = f"/.well-known/jwks.json?appName={quote(app_name, safe='')}"
    with _lock:
        known = _key_sets.get(url + path)
        found = _find(known, kid)
        now = time.time()
        if known and now - known.tried_at < (_REFRESH_SECONDS if found else _MIN_REFRESH_SECONDS):
            return found
        try:
            keys = send(url, path, attempts=1 if known else 3, timeout_seconds=timeout_seconds)["keys"]
            known = _key_sets[url + path] = _KeySet(keys, now, now)
        except ClaimcheckError:
            if known is None or now - known.fetched_at > _MAX_AGE_SECONDS:
                raise
            known.tried_at = now
        return _find(known, kid)


def _find(known: Optional[_KeySet], kid: Any) -> Optional[TokenKey]:
    return next((key for key in known.keys if key["kid"] == kid), None) if known else None
