from __future__ import annotations

import base64
import re
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, Mapping, Optional, cast
from urllib.parse import quote

from .error import ClaimcheckError
from .request import require_options, send
from .types import ERROR_NUMBERS, CreditChange, CustomerCredits, CustomerEntitlements, ValidationResponse

_MAX_CACHED_CUSTOMERS = 10_000
_PAUSE_SECONDS = 5.0
# Codes that prove that a purchase gives no access.
_DENIED_CODES = {"InvalidPayload", "PurchaseExpired", "PurchaseConsumed", "NeedMoreData"}


@dataclass
class _Cached:
    answer: CustomerEntitlements
    sent_at: float
    is_stale: bool = False

    def is_active(self, name: str) -> bool:
        # The time is of the service's clock: a wrong clock of this server gives no access.
        entitlement = self.answer["entitlements"].get(name)
        if entitlement is None or not entitlement["isActive"]:
            return False
        until = entitlement["until"]
        return until is None or _to_seconds(until) > _to_seconds(self.answer["asOf"]) + time.time() - self.sent_at


class Claimcheck:
    """Calls a service for an app. The constructor raises ClaimcheckError with InvalidOptions; methods raise it after
    three attempts if the error is temporary.

    url: URL of the service, such as the stack output ApiUrl.
    secret_key: keep it on your server.
    cache_seconds: how long has_entitlement uses an answer that gives access. Others: at most 5 seconds.
    outage_seconds: how long the last answer is used while the service is unavailable.
    timeout_seconds: time limit of one attempt. A validation has six times as long.
    """

    def __init__(
        self,
        *,
        url: str,
        app_name: str,
        secret_key: str,
        cache_seconds: float = 30,
        outage_seconds: float = 86_400,
        timeout_seconds: float = 5.0,
    ):
        require_options(url=url, app_name=app_name, secret_key=secret_key)
        self._url = url
        self._headers = {"Authorization": "Basic " + base64.b64encode(f"{app_name}:{secret_key}".encode()).decode()}
        self._cache_seconds = cache_seconds
        self._outage_seconds = outage_seconds
        self._timeout_seconds = timeout_seconds
        self._cache: Dict[str, _Cached] = {}
        self._lock = threading.Lock()
        self._paused_until = 0.0
        self.credits = Credits(self)

    def validate(self, request: Mapping[str, Any]) -> ValidationResponse:
        """Validates a purchase. `ok` False proves that it gives no access.

        Without a proof, such as in an outage of the store, it raises: keep the current access.
        """
        timeout = 6 * self._timeout_seconds
        response = send(self._url, "/v1/validate", headers=self._headers, body=request, timeout_seconds=timeout)
        code = None if response["ok"] else ERROR_NUMBERS.get(response["code"], "Unknown")
        if code is None or code in _DENIED_CODES:
            return cast(ValidationResponse, response)
        raise ClaimcheckError(code, response["message"], response["status"])

    def entitlements(self, username: str) -> CustomerEntitlements:
        """Reads the entitlements that a customer has or ever had, without the cache."""
        return self._load(username).answer

    def has_entitlement(self, username: str, name: str) -> bool:
        """Whether an entitlement is active.

        In an outage, the last answer counts for outage_seconds, and never longer than the entitlement. Without an
        answer it raises ClaimcheckError with Unreachable.
        """
        cached = self._cache.get(username)
        if cached is None:
            return self._load(username).is_active(name)
        age = time.time() - cached.sent_at
        known = cached.is_active(name)
        max_age = 0 if cached.is_stale else self._cache_seconds if known else min(self._cache_seconds, 5)
        is_paused = time.time() < self._paused_until
        if age < max_age or (is_paused and age < self._outage_seconds):
            return known
        try:
            return self._load(username, 1).is_active(name)
        except ClaimcheckError as error:
            if not error.is_temporary or age >= self._outage_seconds:
                raise
            self._paused_until = time.time() + _PAUSE_SECONDS
            return cached.is_active(name)

    def invalidate(self, username: str) -> None:
        """Makes the next has_entitlement send a request. Call it for each webhook about the customer."""
        cached = self._cache.get(username)
        if cached:
            cached.is_stale = True

    def _load(self, username: str, attempts: int = 3) -> _Cached:
        sent_at = time.time()
        cached = _Cached(self._send(username, "entitlements", attempts=attempts), sent_at)
        with self._lock:
            self._cache.pop(username, None)
            if len(self._cache) >= _MAX_CACHED_CUSTOMERS:
                self._cache.pop(next(iter(self._cache)))
            self._cache[username] = cached
        return cached

    def _send(self, username: str, path: str, body: Optional[Mapping[str, Any]] = None, attempts: int = 3) -> Any:
        # Steps of a path, and a visitor without a session.
        if re.fullmatch(r"\.{0,2}", username or ""):
            raise ClaimcheckError("InvalidPayload", "The username is empty, or only dots.")
        return send(
            self._url,
            f"/v3/customers/{quote(username, safe='')}/{path}",
            headers=self._headers,
            body=body,
            attempts=attempts,
            timeout_seconds=self._timeout_seconds,
        )


class Credits:
    """Balances of a customer. With sandbox, those of purchases in the sandboxes."""

    def __init__(self, client: Claimcheck):
        self._client = client

    def get(self, username: str, *, sandbox: bool = False) -> CustomerCredits:
        """Reads the balances by name."""
        return self._client._send(username, "credits?sandbox=true" if sandbox else "credits")

    def spend(
        self, username: str, *, credit: str, amount: int, idempotency_key: str, reason: str = "", sandbox: bool = False
    ) -> CreditChange:
        """Spends units once for an idempotency_key. Raises Conflict with balance if it does not suffice."""
        body = _to_spend(credit, amount, idempotency_key, reason, sandbox)
        return self._client._send(username, "credits/spend", body)

    def hold(
        self,
        username: str,
        *,
        credit: str,
        amount: int,
        idempotency_key: str,
        until: Optional[str] = None,
        reason: str = "",
        sandbox: bool = False,
    ) -> CreditChange:
        """Reserves units until `until` (ISO 8601; default: an hour, at most 30 days). holdId ends the hold."""
        body = {**_to_spend(credit, amount, idempotency_key, reason, sandbox), "hold": True, "until": until}
        return self._client._send(username, "credits/spend", body)

    def capture(self, username: str, hold_id: str, amount: int, *, sandbox: bool = False) -> CreditChange:
        """Spends `amount` units of a hold and releases the others."""
        path = f"credits/holds/{quote(hold_id, safe='')}/capture"
        return self._client._send(username, path, {"amount": amount, "sandbox": sandbox})

    def release(self, username: str, hold_id: str, *, sandbox: bool = False) -> CreditChange:
        """Releases all units of a hold."""
        path = f"credits/holds/{quote(hold_id, safe='')}/release"
        return self._client._send(username, path, {"sandbox": sandbox})


def _to_spend(credit: str, amount: int, idempotency_key: str, reason: str, sandbox: bool) -> Dict[str, Any]:
    body = {"credit": credit, "amount": amount, "idempotencyKey": idempotency_key, "sandbox": sandbox}
    return {**body, "reason": reason} if reason else body


def _to_seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
