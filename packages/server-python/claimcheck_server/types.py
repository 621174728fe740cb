"""Generated from the contracts of the service by `npm run openapi`. Do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union


# Why a purchase ended or does not renew: by the developer, the store or payment system, or the customer. `PAUSED`: the subscription is paused.
CancelationReason = Literal["Developer", "System", "System.Replaced", "System.ProductUnavailable", "System.BillingError", "System.Deleted", "Customer", "Customer.TechnicalIssues", "Customer.PriceIncrease", "Customer.Cost", "Customer.FoundBetterApp", "Customer.NotUsefulEnough", "Customer.OtherReason", "Unknown", "PAUSED"]


# The purchase or the grant that gives an entitlement.
EntitlementSource = Union["PurchaseSource", "GrantSource"]


# Error code: `InvalidPayload`: the request is invalid. `ConnectionFailed`: a store is unavailable, or there are too many requests; try again later. `PurchaseExpired`: the subscription expired and was not renewed. `PurchaseConsumed`: the consumable is already consumed. `InternalError`: an internal problem prevented processing; try again later. `NeedMoreData`: more data is required, such as a StoreID key or the payment. `Unknown`: an unexpected error. `AppNotFound`: no app has the name, or the app is deleted. `Conflict`: the request conflicts with another one or with the state of the record. `Forbidden`: the credentials are missing, wrong or do not allow the request. `DatabaseError`: the database is unavailable; try again later. `ResourceNotFound`: the record does not exist.
ErrorCode = Literal["InvalidPayload", "ConnectionFailed", "PurchaseExpired", "PurchaseConsumed", "InternalError", "NeedMoreData", "Unknown", "AppNotFound", "Conflict", "Forbidden", "DatabaseError", "ResourceNotFound"]


# Store in the neutral vocabulary: `store_a` Apple App Store, `store_b` Google Play, `store_c` Microsoft Store, `processor_a` Stripe, `service_processor_a` Stripe by the account of the deployment, `processor_b` Braintree.
NeutralPlatform = Literal["store_a", "store_b", "store_c", "processor_a", "service_processor_a", "processor_b"]


# Store in the vocabulary of the app: neutral tokens, or the brand tokens `apple`, `google`, `windows`, `stripe`, `iaptic` and `braintree`. Ids have the same prefix.
PlatformToken = Literal["store_a", "store_b", "store_c", "processor_a", "service_processor_a", "processor_b", "apple", "google", "windows", "stripe", "iaptic", "braintree"]


# Whether the customer agreed to a price increase (`Agreed`) or was only notified of it (`Notified`).
PriceConsentStatus = Literal["Agreed", "Notified"]


# Purchases of a customer, one for each product, by product id with platform prefix.
PurchaseCollection = Dict[str, "Purchase"]


# Evidence of a purchase, by store. `type` selects the form.
ReceiptTransaction = Union["AppStoreReceipt", "AppStoreTransaction", "PlayPurchase", "MicrosoftPurchase", "StripeCharge", "BraintreePayment", "AccessToken", "AppStoreReceiptBrand", "AppStoreTransactionBrand", "PlayPurchaseBrand", "MicrosoftPurchaseBrand", "StripeChargeBrand", "BraintreePaymentBrand", "AccessTokenBrand"]


# Whether the customer lets the subscription renew (`Renew`) or expire (`Lapse`).
RenewalIntent = Literal["Lapse", "Renew"]


# Result of the validation. `ok` selects the form.
ValidationResponse = Union["ValidationSuccess", "ValidationFailure"]


# The body of a webhook. `type` selects the form.
WebhookEvent = Union["PurchasesUpdatedWebhook", "RefundRequestedWebhook", "ConsentRescindedWebhook", "ExternalPurchaseTokenWebhook", "TestWebhook"]


class _AccessToken(TypedDict):
    # The constant `client-library`.
    type: Literal["client-library"]
    # Token from the creation of the checkout session.
    accessToken: str


class AccessToken(_AccessToken, total=False):
    """Access token of a checkout session (processor_a)."""

    # The platform behind the client library.
    adapter: Literal["processor_a", "stripe"]


class _AccessTokenBrand(TypedDict):
    # The constant `iaptic`.
    type: Literal["iaptic"]
    # Token from the creation of the checkout session.
    accessToken: str


class AccessTokenBrand(_AccessTokenBrand, total=False):
    """The same with the brand token, so the response has brand tokens."""

    # The platform behind the client library.
    adapter: Literal["processor_a", "stripe"]


class AdditionalData(TypedDict, total=False):
    """The customer of the validation."""

    # The customer's username in your app. Without it, the purchases are recorded without an owner.
    applicationUsername: str
    # Form of the username that your app passed to the store.
    obfuscatedUsername: str


class AnnouncedConsent(TypedDict):
    """A rescinded consent in a webhook."""

    # Type of the notification in the store's terms.
    notificationType: str
    # The store.
    platform: NeutralPlatform
    # Whether the request is of the store's sandbox.
    isSandbox: bool
    # The store account of the customer in the app.
    appTransactionId: str
    # Date of the notification.
    date: str


class _AnnouncedExternalPurchaseToken(TypedDict):
    # Type of the notification in the store's terms.
    notificationType: str
    # The store.
    platform: NeutralPlatform
    # Whether the request is of the store's sandbox.
    isSandbox: bool
    # Id of the token.
    externalPurchaseId: str
    # Date of the notification.
    date: str


class AnnouncedExternalPurchaseToken(_AnnouncedExternalPurchaseToken, total=False):
    """An external purchase token in a webhook."""

    # Date of the token.
    tokenCreatedAt: str


class AnnouncedRefundRequest(TypedDict):
    """A refund request in a webhook."""

    # Id of the refund request.
    id: str
    # The store.
    platform: PlatformToken
    # The purchase.
    purchaseId: str
    # The payment to refund.
    transactionId: str
    # Reason in the store's terms.
    reason: str
    # Date of the request.
    requestedAt: str
    # Time until which the store accepts the statement.
    deadline: str


class _AppStoreReceipt(TypedDict):
    # The constant `ios-store`.
    type: Literal["ios-store"]
    # Receipt of the app, in base64. A signed transaction (JWS) is accepted, too.
    appStoreReceipt: str


class AppStoreReceipt(_AppStoreReceipt, total=False):
    """Receipt of the app from StoreKit 1 (store_a)."""

    # Transaction to validate, or the id of the app.
    id: str
    # Receipt of a transaction, in base64. Deprecated: send `appStoreReceipt`.
    transactionReceipt: str


class _AppStoreReceiptBrand(TypedDict):
    # The constant `ios-appstore`.
    type: Literal["ios-appstore"]
    # Receipt of the app, in base64. A signed transaction (JWS) is accepted, too.
    appStoreReceipt: str


class AppStoreReceiptBrand(_AppStoreReceiptBrand, total=False):
    """The same with the brand token, so the response has brand tokens."""

    # Transaction to validate, or the id of the app.
    id: str
    # Receipt of a transaction, in base64. Deprecated: send `appStoreReceipt`.
    transactionReceipt: str


class _AppStoreTransaction(TypedDict):
    # The constant `store_a-signed`.
    type: Literal["store_a-signed"]
    # `jwsRepresentation` of a StoreKit 2 transaction or app transaction.
    jwsRepresentation: str


class AppStoreTransaction(_AppStoreTransaction, total=False):
    """Signed transaction of StoreKit 2 (store_a)."""

    # Product or app id.
    id: str
    # Numeric id of the app in the App Store. A production transaction is rejected if it has a different one.
    appAppleId: int


class _AppStoreTransactionBrand(TypedDict):
    # The constant `apple-sk2`.
    type: Literal["apple-sk2"]
    # `jwsRepresentation` of a StoreKit 2 transaction or app transaction.
    jwsRepresentation: str


class AppStoreTransactionBrand(_AppStoreTransactionBrand, total=False):
    """The same with the brand token, so the response has brand tokens."""

    # Product or app id.
    id: str
    # Numeric id of the app in the App Store. A production transaction is rejected if it has a different one.
    appAppleId: int


class _BraintreePayment(TypedDict):
    # The constant `processor_b`.
    type: Literal["processor_b"]
    # Nonce of Braintree's client SDK. The validation charges it.
    paymentMethodNonce: str


class BraintreePayment(_BraintreePayment, total=False):
    """Payment of Braintree (processor_b). The validation makes the payment."""

    # Not used.
    id: Any
    # Device data of Braintree's client SDK.
    deviceData: Any


class _BraintreePaymentBrand(TypedDict):
    # The constant `braintree`.
    type: Literal["braintree"]
    # Nonce of Braintree's client SDK. The validation charges it.
    paymentMethodNonce: str


class BraintreePaymentBrand(_BraintreePaymentBrand, total=False):
    """The same with the brand token, so the response has brand tokens."""

    # Not used.
    id: Any
    # Device data of Braintree's client SDK.
    deviceData: Any


class ClientOffer(TypedDict, total=False):
    """An offer, in the data of the app."""

    # Id of the offer.
    id: str
    # Product of the offer.
    productId: str
    # Type of the product.
    productType: str
    # Platform of the offer.
    platform: str
    # Type of the offer.
    offerType: str
    # Subscription group.
    productGroup: str
    # Phases of the price.
    pricingPhases: List["ClientPricingPhase"]


class ClientPricingPhase(TypedDict, total=False):
    """A phase of the price, in the data of the app."""

    # Price in millionths of `currency`.
    priceMicros: int
    # ISO 4217 code.
    currency: str
    # ISO 8601 duration between two payments.
    billingPeriod: str
    # Repetition of the phase.
    recurrenceMode: str
    # Form of the payment.
    paymentMode: str


class _ClientProduct(TypedDict):
    # Product id, unique for the platform.
    id: str


class ClientProduct(_ClientProduct, total=False):
    """A product that the app sells."""

    # Type of the product.
    type: str
    # Name of the product.
    title: str
    # Description of the product.
    description: str
    # Platform of the product.
    platform: str
    # Country of the store account.
    countryCode: str
    # Subscription group. Decides for which products the introductory price was used.
    group: str
    # Offers of the product.
    offers: List["ClientOffer"]


class _ConsentRescindedWebhook(TypedDict):
    # The constant `consent.rescinded`.
    type: Literal["consent.rescinded"]
    # The request of the store.
    storeRequest: AnnouncedConsent


class ConsentRescindedWebhook(_ConsentRescindedWebhook, total=False):
    """A parent rescinded the consent for a customer."""

    # Secret key of the app. Absent if the app excludes it; verify the signature instead.
    password: str
    # The customer. Absent if no customer owns a purchase of the store account.
    applicationUsername: str


class Credit(TypedDict):
    """A credit of a customer."""

    # What the customer can spend: `granted` - `spent` - `takenBack` - `expired`.
    balance: int
    # Units that payments and gifts gave.
    granted: int
    # Units that were spent or are held.
    spent: int
    # Units that refunds took back, or that were taken by hand.
    takenBack: int
    # Units that ended unspent.
    expired: int
    # The lots with units that are left, in no order.
    lots: List["CreditLot"]
    # The open holds.
    holds: List["CreditHold"]


class _CreditChange(TypedDict):
    # The customer's username in your app, 1 to 900 bytes of UTF-8.
    applicationUsername: str
    # The credits of the sandbox have changed.
    isSandbox: bool
    # Id of the change.
    id: str
    # `given` by a payment or as a gift, `spent`, `held`, `captured` and `released` by the app, `taken` by hand, `expired` at their end, `taken-back` for a refund, `returned` when the refund was reversed, `received` from and `moved` to another customer.
    type: Literal["given", "taken", "spent", "held", "captured", "released", "expired", "taken-back", "returned", "received", "moved"]
    # Date of the change.
    at: str
    # Name of the credit.
    credit: str
    # Number of units.
    amount: int
    # The balance after the change.
    balance: int


class CreditChange(_CreditChange, total=False):
    """A change of the credits of a customer."""

    # End of given units. Absent without an end.
    expiresAt: str
    # Id of the hold. Absent for other changes.
    holdId: str
    # End of the hold, at which its units are free again.
    until: str
    # Why.
    reason: str
    # The API key of the request. Absent for payments and refunds.
    key: GrantingKey
    # The payment. Absent for other changes.
    transactionId: str
    # The purchase of the payment.
    purchaseId: str


class CreditHold(TypedDict):
    """Reserved units."""

    # Id of the hold.
    holdId: str
    # Number of units.
    amount: int
    # When they are free again, if the hold is not captured.
    until: str


class CreditLot(TypedDict):
    """Units that were given at once and end at once."""

    # Id of the lot.
    lotId: str
    # A payment, or a gift by hand.
    origin: Literal["payment", "gift"]
    # Units that the lot had.
    amount: int
    # Units that are left.
    left: int
    # When they were given.
    givenAt: str
    # When they end. Null without an end.
    expiresAt: Union[str, "None"]


class CreditTotals(TypedDict):
    """The numbers of a credit of a customer."""

    # What the customer can spend: `granted` - `spent` - `takenBack` - `expired`.
    balance: int
    # Units that payments and gifts gave.
    granted: int
    # Units that were spent or are held.
    spent: int
    # Units that refunds took back, or that were taken by hand.
    takenBack: int
    # Units that ended unspent.
    expired: int


class CustomerCredits(TypedDict):
    """The credits of a customer."""

    # The customer's username in your app, 1 to 900 bytes of UTF-8.
    applicationUsername: str
    # They are the credits of the sandbox.
    isSandbox: bool
    # The credits by name.
    credits: Dict[str, "Credit"]
    # Time of the response.
    asOf: str


class CustomerEntitlements(TypedDict):
    """The entitlements of a customer."""

    # The customer's username in your app, 1 to 900 bytes of UTF-8.
    applicationUsername: str
    # All entitlements that the customer has or ever had, by name.
    entitlements: Dict[str, "Entitlement"]
    # Time of the response.
    asOf: str


class Entitlement(TypedDict):
    """An entitlement of a customer, by its best source."""

    # The customer has access now.
    isActive: bool
    # Start of the purchase or grant. Null if the store does not report it.
    since: Union[str, "None"]
    # End of access. A subscription that renews keeps access for 24 hours (`unverifiedHours`) after the renewal date. Null without an end, or, if it is not active, without a known end.
    until: Union[str, "None"]
    # The store renews the purchase at the end.
    willRenew: bool
    # Whether the purchase is of the store's sandbox.
    isSandbox: bool
    # The payment of a renewal failed and access goes on for now.
    isInGracePeriod: bool
    # The best source: an active one takes precedence, then the one that ends last.
    source: EntitlementSource


class _ExternalPurchaseTokenWebhook(TypedDict):
    # The constant `external-purchase.token`.
    type: Literal["external-purchase.token"]
    # The request of the store.
    storeRequest: AnnouncedExternalPurchaseToken


class ExternalPurchaseTokenWebhook(_ExternalPurchaseTokenWebhook, total=False):
    """An external purchase token must be reported."""

    # Secret key of the app. Absent if the app excludes it; verify the signature instead.
    password: str


class GrantSource(TypedDict):
    """The grant that gives an entitlement."""

    # Always `grant`.
    type: Literal["grant"]
    # Id of the grant.
    grantId: str


class GrantingKey(TypedDict):
    """The API key that made or changed a grant."""

    # Id of the key.
    id: str
    # Name of the key.
    name: str


class License(TypedDict, total=False):
    """StoreID keys of the Microsoft Store."""

    # StoreID key of the collections service.
    storeIdKey_collections: str
    # StoreID key of the purchase service.
    storeIdKey_purchases: str


class _MicrosoftPurchase(TypedDict):
    # The constant `store_c-transaction`.
    type: Literal["store_c-transaction"]


class MicrosoftPurchase(_MicrosoftPurchase, total=False):
    """Purchase of the Microsoft Store (store_c). The keys are in `license`."""

    # Product id.
    id: str
    # Store ID of the product.
    storeId: str
    # Store ID of the SKU.
    skuId: str


class _MicrosoftPurchaseBrand(TypedDict):
    # The constant `windows-store-transaction`.
    type: Literal["windows-store-transaction"]


class MicrosoftPurchaseBrand(_MicrosoftPurchaseBrand, total=False):
    """The same with the brand token, so the response has brand tokens."""

    # Product id.
    id: str
    # Store ID of the product.
    storeId: str
    # Store ID of the SKU.
    skuId: str


class NativeTransaction(TypedDict, total=False):
    """The store's own transaction. Its other members depend on the store."""

    # The `type` of the request.
    type: str


class _PlayPurchase(TypedDict):
    # The constant `android-store`.
    type: Literal["android-store"]
    # Purchase token of Google Play Billing.
    purchaseToken: str


class PlayPurchase(_PlayPurchase, total=False):
    """Purchase of Google Play (store_b)."""

    # Order id.
    id: str
    # `originalJson` of the purchase, unchanged: the signature covers this text.
    receipt: str
    # Signature of `receipt`, in base64.
    signature: str


class _PlayPurchaseBrand(TypedDict):
    # The constant `android-playstore`.
    type: Literal["android-playstore"]
    # Purchase token of Google Play Billing.
    purchaseToken: str


class PlayPurchaseBrand(_PlayPurchaseBrand, total=False):
    """The same with the brand token, so the response has brand tokens."""

    # Order id.
    id: str
    # `originalJson` of the purchase, unchanged: the signature covers this text.
    receipt: str
    # Signature of `receipt`, in base64.
    signature: str


class _Purchase(TypedDict):
    # Id of the purchase with its platform prefix, the same for all renewals.
    purchaseId: str
    # Id of the latest transaction with its platform prefix.
    transactionId: str
    # Product with its platform prefix, `{platform}:{productId}`.
    productId: str
    # Store of the purchase.
    platform: PlatformToken


class Purchase(_Purchase, total=False):
    """A purchase: the state that results from all of its transactions."""

    # Whether the purchase was made in the store's sandbox.
    sandbox: bool
    # Date of the purchase: for a subscription, of its first transaction.
    purchaseDate: str
    # Date of the latest renewal.
    lastRenewalDate: str
    # Date at which the subscription expires or renews.
    expirationDate: str
    # `Renew` if the subscription will renew at its end, otherwise `Lapse`.
    renewalIntent: RenewalIntent
    # Date at which the renewal intent changed.
    renewalIntentChangeDate: str
    # Why the purchase ended or does not renew. Absent if it was not canceled.
    cancelationReason: CancelationReason
    # The payment is pending. The purchase gives no access until it is paid.
    isPending: bool
    # The purchase is acknowledged at the store.
    isAcknowledged: bool
    # The consumable is consumed at the store.
    isConsumed: bool
    # The subscription is in its grace period after a failed payment.
    isBillingRetryPeriod: bool
    # The subscription is in a free trial.
    isTrialPeriod: bool
    # The subscription is in an introductory period.
    isIntroPeriod: bool
    # Whether the customer agreed to a price increase.
    priceConsentStatus: PriceConsentStatus
    # Id of the applied discount.
    discountId: str
    # Number of purchased units. Meaningful for consumables only.
    quantity: int
    # ISO 4217 code of the currency of `amountMicros`.
    currency: str
    # Another store account made the purchase, for example in a family.
    isSharedPurchase: bool
    # The subscription has expired.
    isExpired: bool
    # Renewal date since which the store could not be queried. Absent if the state is verified.
    unverifiedSince: str
    # The subscription is paused. It then gives no access.
    isPaused: bool
    # Date of the automatic resume. Only present while the subscription is paused.
    autoResumeDate: str
    # Amount of the latest transaction in US dollars, or null if it is unknown.
    amountUSD: Union[float, "None"]
    # Amount of the latest transaction in millionths of `currency`, or null if it is unknown.
    amountMicros: Union[int, "None"]


class PurchaseSource(TypedDict):
    """The purchase that gives an entitlement."""

    # Always `purchase`.
    type: Literal["purchase"]
    # Id of the purchase.
    purchaseId: str
    # Store of the purchase.
    platform: PlatformToken
    # Purchased product.
    productId: str


class _PurchasesUpdatedWebhook(TypedDict):
    # The constant `purchases.updated`.
    type: Literal["purchases.updated"]
    # What caused the webhook.
    notification: WebhookNotification
    # The customer whose purchases follow.
    applicationUsername: str
    # All of the customer's purchases by product id with platform prefix, without unpaid ones.
    purchases: PurchaseCollection


class PurchasesUpdatedWebhook(_PurchasesUpdatedWebhook, total=False):
    """A change of a purchase of a customer."""

    # Secret key of the app. Absent if the app excludes it; verify the signature instead.
    password: str
    # All entitlements that the customer has or ever had, by name. Absent for an app without entitlements.
    entitlements: Dict[str, "Entitlement"]
    # The entitlements of the purchase or grant that caused the webhook. Absent for an app without entitlements.
    entitlementsChanged: List[str]


class _RefundRequestedWebhook(TypedDict):
    # The constant `refund.requested`.
    type: Literal["refund.requested"]
    # The request, without the facts of the service.
    refundRequest: AnnouncedRefundRequest


class RefundRequestedWebhook(_RefundRequestedWebhook, total=False):
    """A new refund request."""

    # Secret key of the app. Absent if the app excludes it; verify the signature instead.
    password: str
    # The customer. Absent if no customer has claimed the purchase.
    applicationUsername: str


class _SpendRequest(TypedDict):
    # Name of the credit.
    credit: str
    # Number of units.
    amount: int
    # A repeated request with the same key has the same result.
    idempotencyKey: str


class SpendRequest(_SpendRequest, total=False):
    """The units to spend."""

    # The credits of the sandbox change, which are apart. Default: false.
    sandbox: bool
    # Why, at most 500 characters.
    reason: str
    # The units are reserved only, until a capture or a release.
    hold: bool
    # End of the hold, at most 30 days from now. Default: in an hour.
    until: str


class StripeCharge(TypedDict):
    """Payment of Stripe (processor_a)."""

    # The constant `processor_a-charge`.
    type: Literal["processor_a-charge"]
    # Id of a charge, payment intent, subscription or checkout session.
    id: str


class StripeChargeBrand(TypedDict):
    """The same with the brand token, so the response has brand tokens."""

    # The constant `stripe-charge`.
    type: Literal["stripe-charge"]
    # Id of a charge, payment intent, subscription or checkout session.
    id: str


class _TestWebhook(TypedDict):
    # The constant `test`.
    type: Literal["test"]


class TestWebhook(_TestWebhook, total=False):
    """A webhook that checks the connection to your server."""

    # Secret key of the app. Absent if the app excludes it; verify the signature instead.
    password: str


class TokenKey(TypedDict):
    """A public key of entitlement tokens, in the format JSON Web Key."""

    # The constant EC.
    kty: Literal["EC"]
    # The constant P-256.
    crv: Literal["P-256"]
    # X coordinate in base64url.
    x: str
    # Y coordinate in base64url.
    y: str
    # Id of the key, which tokens name.
    kid: str
    # The constant sig.
    use: Literal["sig"]
    # The constant ES256.
    alg: Literal["ES256"]


class TokenKeys(TypedDict):
    """A JSON Web Key Set."""

    # The key that signs, the next one, and replaced ones until their tokens have expired.
    keys: List["TokenKey"]


class _ValidationData(TypedDict):
    # The validated product.
    id: str
    # The constant true.
    latest_receipt: Literal[True]
    # The store's own transaction.
    transaction: NativeTransaction
    # Purchases of the receipt that the customer owns, active ones first.
    collection: List["ValidatorPurchase"]
    # Products whose introductory price the customer has used.
    ineligible_for_intro_price: List[str]
    # Date of the response.
    date: str


class ValidationData(_ValidationData, total=False):
    """The validated product and the purchases of the receipt."""

    # Why the response has the last verified state: the store is unavailable.
    warning: str
    # The credits of the customer by name. Present if a validated product gives credits.
    credits: Dict[str, "CreditTotals"]


class ValidationErrorMessage(TypedDict):
    """The error message for released clients."""

    # Error message.
    message: str


class ValidationFailure(TypedDict):
    """The receipt is not valid, the product is not owned, or the validation failed. The HTTP status is 200."""

    # The constant false.
    ok: Literal[False]
    # Path of the operation.
    route: str
    # HTTP status of the error code.
    status: int
    # Number of the error code: 6778001 `InvalidPayload`, 6778002 `ConnectionFailed`, 6778003 `PurchaseExpired`, 6778004 `PurchaseConsumed`, 6778005 `InternalError`, 6778006 `NeedMoreData`, 7691001 `AppNotFound`, 7691002 `Conflict`, 7691003 `Forbidden`, 7691004 `DatabaseError`.
    code: int
    # Error message.
    message: str
    # Details of the error.
    data: ValidationFailureData


class ValidationFailureData(TypedDict):
    """Details of the error. A missing StoreID key adds `serviceTicket` and `serviceTicketType`."""

    # The constant true.
    latest_receipt: Literal[True]
    # Number of the error code: 6778001 `InvalidPayload`, 6778002 `ConnectionFailed`, 6778003 `PurchaseExpired`, 6778004 `PurchaseConsumed`, 6778005 `InternalError`, 6778006 `NeedMoreData`, 7691001 `AppNotFound`, 7691002 `Conflict`, 7691003 `Forbidden`, 7691004 `DatabaseError`.
    code: int
    # The error message.
    error: ValidationErrorMessage


class _ValidationRequest(TypedDict):
    # Product to validate. With the type `application`, the id of the app.
    id: str
    # Type of the product. `application` validates all purchases of an app receipt (store_a only).
    type: Literal["application", "paid subscription", "non renewing subscription", "consumable", "non consumable"]
    # Evidence of the purchase.
    transaction: ReceiptTransaction


class ValidationRequest(_ValidationRequest, total=False):
    """A receipt with the product to validate."""

    # Price in millionths of `currency`, for stores that do not return it. It is used for statistics only.
    priceMicros: int
    # ISO 4217 code of the currency of the price.
    currency: str
    # Country of the store account.
    countryCode: str
    # Number of units between two payments, for stores that do not return it.
    billingPeriod: int
    # Unit of `billingPeriod`.
    billingPeriodUnit: Literal["Day", "Week", "Month", "Year"]
    # Products that the app sells.
    products: List["ClientProduct"]
    # The customer, if the user of the app has signed in.
    additionalData: AdditionalData
    # StoreID keys (store_c only).
    license: License
    # Accepted from released clients and not used.
    offers: List["ClientOffer"]
    # Accepted from released clients and not used.
    group: str
    # Accepted from released clients and not used.
    introPriceMicros: int
    # Accepted from released clients and not used.
    introPricePeriod: int
    # Accepted from released clients and not used.
    introPricePeriodUnit: Literal["Day", "Week", "Month", "Year"]
    # Accepted from released clients and not used.
    trialPeriod: int
    # Accepted from released clients and not used.
    trialPeriodUnit: Literal["Day", "Week", "Month", "Year"]
    # Accepted from released clients and not used.
    device: Dict[str, "Any"]


class ValidationSuccess(TypedDict):
    """The receipt is valid and the product is owned."""

    # The constant true.
    ok: Literal[True]
    # The validated product and the purchases of the receipt.
    data: ValidationData


class _ValidatorPurchase(TypedDict):
    # Product id.
    id: str
    # Store of the purchase, with a neutral or a brand token, like the request.
    platform: str
    # Id of the purchase, the same for all renewals.
    purchaseId: str
    # Id of the latest transaction.
    transactionId: str


class ValidatorPurchase(_ValidatorPurchase, total=False):
    """A purchase of the receipt: ids without platform prefix, dates in epoch milliseconds."""

    # Date of the first transaction.
    purchaseDate: int
    # Date at which the subscription expires or renews.
    expiryDate: int
    # The purchase gives no access.
    isExpired: bool
    # Renewal date since which the store could not be queried. Absent if the state is verified.
    unverifiedSince: int
    # `Renew` if the subscription will renew at its end, otherwise `Lapse`.
    renewalIntent: RenewalIntent
    # Date at which the renewal intent changed.
    renewalIntentChangeDate: int
    # Why the purchase ended or does not renew. Absent if it was not canceled.
    cancelationReason: CancelationReason
    # The subscription is in its grace period after a failed payment.
    isBillingRetryPeriod: bool
    # The subscription is in a free trial.
    isTrialPeriod: bool
    # The subscription is in an introductory period.
    isIntroPeriod: bool
    # The purchase is acknowledged at the store.
    isAcknowledged: bool
    # The consumable is consumed at the store.
    isConsumed: bool
    # Id of the applied discount.
    discountId: str
    # Whether the customer agreed to a price increase.
    priceConsentStatus: PriceConsentStatus
    # Date of the latest renewal.
    lastRenewalDate: int
    # Number of units of the latest transaction. Meaningful for consumables only.
    quantity: int
    # The purchase is paused or on hold and gives no access.
    isSuspended: bool


class _WebhookNotification(TypedDict):
    # Id of the notification. One notification can cause several webhooks, one for each entitled customer.
    id: str
    # Kind of the change, such as `PURCHASED`, `RENEWED`, `EXPIRED` or `REFUNDED`.
    reason: str
    # Date of the change.
    date: str


class WebhookNotification(_WebhookNotification, total=False):
    """What caused a webhook."""

    # Product of the change, with platform prefix.
    productId: str
    # Purchase of the change, with platform prefix.
    purchaseId: str
    # Transaction of the change, with platform prefix.
    transactionId: str


# Codes by the number that a failed validation has.
ERROR_NUMBERS: Dict[int, str] = {
    6778001: "InvalidPayload",
    6778002: "ConnectionFailed",
    6778003: "PurchaseExpired",
    6778004: "PurchaseConsumed",
    6778005: "InternalError",
    6778006: "NeedMoreData",
    6778007: "Unknown",
    7691001: "AppNotFound",
    7691002: "Conflict",
    7691003: "Forbidden",
    7691004: "DatabaseError",
    7691005: "ResourceNotFound",
}


# What to do about an error.
ERROR_FIXES: Dict[str, str] = {
    "InvalidPayload": "Correct the field that the message names.",
    "ConnectionFailed": "A store is unavailable, or there are too many requests. Keep the current access, and try again later.",
    "PurchaseExpired": "Deny access.",
    "PurchaseConsumed": "Deny access.",
    "InternalError": "Keep the current access, and try again later.",
    "NeedMoreData": "Deny access, and validate again after the payment.",
    "Unknown": "Keep the current access, and try again later.",
    "AppNotFound": "Check the app name and the key.",
    "Conflict": "If `balance` is set, it does not suffice. Otherwise, use another idempotency key.",
    "Forbidden": "Check the app name and the key: reading and spending need the secret key.",
    "DatabaseError": "Keep the current access, and try again later.",
    "ResourceNotFound": "Check the id. A hold that has ended is not found.",
    "InvalidOptions": "Set it, usually from an environment variable. `url` is the stack output `ApiUrl`, or http://127.0.0.1:4000 with `npm start`. `claimcheck app create` prints the name and the secret key, `app set-webhook` the signing secret.",
    "Unreachable": "Check `url` and the network. Keep the current access, and try again later.",
    "InvalidWebhook": "Respond with 401. If each webhook fails, check the secret, and pass the body before it is parsed.",
    "InvalidToken": "Respond with 401. The client requests a new token from your server.",
}
