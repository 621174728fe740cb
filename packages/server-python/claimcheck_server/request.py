from __future__ import annotations

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.request
from typing import Any, Mapping, Optional

from .error import ClaimcheckError

_MAX_DELAY_SECONDS = 5.0


def send(
    url: str,
    path: str,
    *,
    headers: Optional[Mapping[str, str]] = None,
    body: Optional[Mapping[str, Any]] = None,
    attempts: int = 3,
    timeout_seconds: float = 5.0,
) -> Any:
    """Sends a request. An attempt that fails temporarily is repeated: each request of this package is idempotent."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url.rstrip("/") + path, data, {**(headers or {}), "Content-Type": "application/json"}
    )
    status, retry_after, result = None, 0.0, None
    try:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as response:
            result = json.load(response)
            if isinstance(result, dict):
                return result
    except urllib.error.HTTPError as error:
        status, retry_after = error.code, _to_seconds(error.headers.get("Retry-After"))
        result = _parse(error)
    except (OSError, http.client.HTTPException, ValueError):
        pass
    known = result if isinstance(result, dict) else {}
    message = known.get("message", f"{url} did not respond as the service does.")
    failure = ClaimcheckError(known.get("code", "Unreachable"), message, status, known.get("balance"))
    delay = max(retry_after, 0.3 * (1 + random.random()))
    if not failure.is_temporary or attempts <= 1 or delay > _MAX_DELAY_SECONDS:
        raise failure
    time.sleep(delay)
    return send(url, path, headers=headers, body=body, attempts=attempts - 1, timeout_seconds=timeout_seconds)


def require_options(**options: Any) -> None:
    """Raises for an option that is missing, as one of a variable that is not set, or that is no URL."""
    for name, value in options.items():
        if not isinstance(value, str) or not value:
            raise ClaimcheckError("InvalidOptions", f"{name} is missing.")
        if name == "url" and not re.match(r"https?://[^/\s]", value):
            raise ClaimcheckError("InvalidOptions", f"url must start with https:// or http://, and a host: {value}")


def _to_seconds(text: Optional[str]) -> float:
    return float(text) if text and text.isdigit() else 0.0


def _parse(error: urllib.error.HTTPError) -> Any:
    try:
        return json.load(error)
    except (OSError, http.client.HTTPException, ValueError):
        return None
