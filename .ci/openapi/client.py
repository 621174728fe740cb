"""Makes the calls of the README with the generated client: validate a receipt, then read the purchases of the customer."""

import base64
import json
import os

from generated.api.customers import get_customer_purchases
from generated.api.purchases import list_purchases
from generated.api.validation import validate_receipt
from generated.client import AuthenticatedClient
from generated.models.additional_data import AdditionalData
from generated.models.app_store_transaction_brand import AppStoreTransactionBrand
from generated.models.customer_purchases import CustomerPurchases
from generated.models.error import Error
from generated.models.validation_request import ValidationRequest
from generated.models.validation_request_type import ValidationRequestType
from generated.models.validation_success import ValidationSuccess


def connect(key: str) -> AuthenticatedClient:
    token = base64.b64encode(f"{os.environ['APP']}:{os.environ[key]}".encode()).decode()
    return AuthenticatedClient(base_url=os.environ["API"], token=token, prefix="Basic")


receipt = json.loads(os.environ["RECEIPT"])
body = ValidationRequest(
    id=receipt["id"],
    type_=ValidationRequestType(receipt["type"]),
    transaction=AppStoreTransactionBrand(
        type_="apple-sk2", jws_representation=receipt["transaction"]["jwsRepresentation"]
    ),
    additional_data=AdditionalData(application_username="python"),
)
validated = validate_receipt.sync(client=connect("PUBLIC"), body=body)
assert isinstance(validated, ValidationSuccess), validated
purchase = validated.data.collection[0]
assert purchase.id == "python" and not purchase.is_expired, purchase

read = get_customer_purchases.sync("python", client=connect("SECRET"))
assert isinstance(read, CustomerPurchases), read
assert read.purchases["store_a:python"].purchase_id == f"store_a:{purchase.purchase_id}", read

wrong = list_purchases.sync(client=connect("SECRET"), limit=0)
assert isinstance(wrong, Error) and wrong.code == "InvalidPayload", wrong
print("The Python client validated a receipt and read the purchases.")
