from __future__ import annotations

from typing import Optional

from .types import ERROR_FIXES


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
        self.fix = ERROR_FIXES.get(code, ERROR_FIXES["Unknown"])
