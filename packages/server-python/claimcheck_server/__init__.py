"""Calls a Claimcheck service from your server, with the standard library only."""

from .client import Claimcheck
from .error import ClaimcheckError
from .token import VerifiedToken, verify_token
from .webhook import verify_webhook

__all__ = ["Claimcheck", "ClaimcheckError", "VerifiedToken", "verify_token", "verify_webhook"]
