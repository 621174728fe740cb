from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Iterable, Mapping, Union

from .error import ClaimcheckError
from .types import WebhookEvent


def verify_webhook(
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secret: Union[str, Iterable[str]],
    *,
    tolerance_seconds: float = 300,
) -> WebhookEvent:
    """Verifies a webhook and returns its body.

    Pass the body before it is parsed: a formatted one has another signature. Several secrets, or several signatures in
    the header, are valid during a rotation. tolerance_seconds is the largest difference of webhook-timestamp from the
    clock. The comparison takes constant time. Raises ClaimcheckError with InvalidWebhook. A webhook can arrive twice
    with the same webhook-id.
    """
    if not isinstance(body, (str, bytes)):
        raise ClaimcheckError("InvalidWebhook", "The body is parsed already. Pass its text or its bytes.")
    lower = {name.lower(): value for name, value in headers.items()}
    timestamp = lower.get("webhook-timestamp") or ""
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise ClaimcheckError("InvalidWebhook", "The webhook is not signed, or too old.")
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{lower.get('webhook-id') or ''}.{timestamp}.".encode() + raw
    received = (lower.get("webhook-signature") or "").split(" ")
    for one in [secret] if secret is None or isinstance(secret, str) else secret:
        key = _decode_secret(one)
        expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        if any([hmac.compare_digest(expected, signature.encode()) for signature in received]):
            return json.loads(raw)
    raise ClaimcheckError("InvalidWebhook", "The signature is invalid.")


def _decode_secret(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret)
    except (AttributeError, ValueError):
        key = b""
    if not key:
        raise ClaimcheckError("InvalidOptions", "The secret must be a text such as whsec_….")
    return key
