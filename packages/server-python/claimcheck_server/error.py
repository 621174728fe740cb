from __future__ import annotations

from typing import Optional

_KEEP_ACCESS = "Keep the current access, and try again later."
_FIXES = {
    "InvalidPayload": "Correct the field that the message names.",
    "ConnectionFailed": f"A store is unavailable, or there are too many requests. {_KEEP_ACCESS}",
    "PurchaseExpired": "Deny access.",
    "PurchaseConsumed": "Deny access.",
    "InternalError": _KEEP_ACCESS,
    "NeedMoreData": "Deny access, and validate again after the payment.",
    "Unknown": _KEEP_ACCESS,
    "AppNotFound": "Check app_name and the key.",
    "Conflict": "If balance is set, it does not suffice. Otherwise, use another idempotencyKey.",
    "Forbidden": "Check app_name and the key: reading and spending need the secret key.",
    "DatabaseError": _KEEP_ACCESS,
    "ResourceNotFound": "Check the id. A hold that has ended is not found.",
    "InvalidOptions": "Set it, usually from an environment variable. url is the stack output ApiUrl, or http://127.0.0.1:4000 with "
    "`npm start`. `claimcheck app create` prints the name and the secret key, `app set-webhook` the signing secret.",
    "Unreachable": f"Check url and the network. {_KEEP_ACCESS}",
    "InvalidWebhook": "Respond with 401. If each webhook fails, check the secret, and pass the body before it is parsed.",
    "InvalidToken": "Respond with 401. The client requests a new token from your server.",
}


class ClaimcheckError(Exception):
    """The error of all functions of this package.

    code: a code of the service, or InvalidOptions, Unreachable, InvalidWebhook, InvalidToken.
    status: HTTP status, or None without a response.
    balance: units of the credit, if they do not suffice.
    is_temporary: whether a later attempt can succeed. Such an error says nothing about a purchase.
    fix: what to do.
    """

    def __init__(self, code: str, message: str, status: Optional[int] = None, balance: Optional[float] = None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.balance = balance
        self.is_temporary = code == "Unreachable" if status is None else status == 429 or status >= 500
        self.fix = _FIXES.get(code, _KEEP_ACCESS)
