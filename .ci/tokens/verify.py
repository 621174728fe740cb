"""Verifies the tokens of a file with PyJWT and prints whether each one is valid."""

import json
import sys

import jwt


def is_valid(check):
    try:
        header = jwt.get_unverified_header(check["token"])
        keys = [key for key in check["keys"] if key["kid"] == header.get("kid")]
        if header.get("typ") != "entitlements+jwt" or not keys:
            return False
        jwt.decode(
            check["token"],
            jwt.PyJWK.from_dict(keys[0]),
            algorithms=["ES256"],
            audience=check["audience"],
            issuer=check["issuer"],
            options={"require": ["exp", "iat", "sub"]},
        )
        return True
    except jwt.PyJWTError:
        return False


with open(sys.argv[1]) as file:
    print(json.dumps([is_valid(check) for check in json.load(file)]))
