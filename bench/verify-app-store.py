"""Prints how many signed transactions a second Apple's library for Python verifies, in one thread.

The file of the first argument has `root` (DER in Base64), `bundleId`, `transactions` and `milliseconds`.
"""

import base64
import json
import sys
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

with open(sys.argv[1], encoding="utf-8") as file:
    sample = json.load(file)
verifier = SignedDataVerifier(
    [base64.b64decode(sample["root"])], False, Environment.SANDBOX, sample["bundleId"]
)


def verify_all() -> int:
    for transaction in sample["transactions"]:
        verifier.verify_and_decode_signed_transaction(transaction)
    return len(sample["transactions"])


verify_all()
verified = 0
start = time.perf_counter()
while time.perf_counter() - start < sample["milliseconds"] / 1000:
    verified += verify_all()
print(verified / (time.perf_counter() - start))
