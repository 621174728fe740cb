// Generated from the contracts of the service by `npm run openapi`. Do not edit.

/** Access token of a checkout session (processor_a). */
export interface AccessToken {
  /** The constant `client-library`. */
  readonly type: 'client-library';
  /** The platform behind the client library. */
  readonly adapter?: 'processor_a' | 'stripe';
  /** Token from the creation of the checkout session. */
  readonly accessToken: string;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface AccessTokenBrand {
  /** The constant `iaptic`. */
  readonly type: 'iaptic';
  /** The platform behind the client library. */
  readonly adapter?: 'processor_a' | 'stripe';
  /** Token from the creation of the checkout session. */
  readonly accessToken: string;
  readonly [member: string]: unknown;
}

/** The customer of the validation. */
export interface AdditionalData {
  /** The customer's username in your app. Without it, the purchases are recorded without an owner. */
  readonly applicationUsername?: string;
  /** Form of the username that your app passed to the store. */
  readonly obfuscatedUsername?: string;
}

/** A rescinded consent in a webhook. */
export interface AnnouncedConsent {
  /** Type of the notification in the store's terms. */
  readonly notificationType: string;
  /** The store. */
  readonly platform: NeutralPlatform;
  /** Whether the request is of the store's sandbox. */
  readonly isSandbox: boolean;
  /** The store account of the customer in the app. */
  readonly appTransactionId: string;
  /** Date of the notification. */
  readonly date: string;
}

/** An external purchase token in a webhook. */
export interface AnnouncedExternalPurchaseToken {
  /** Type of the notification in the store's terms. */
  readonly notificationType: string;
  /** The store. */
  readonly platform: NeutralPlatform;
  /** Whether the request is of the store's sandbox. */
  readonly isSandbox: boolean;
  /** Id of the token. */
  readonly externalPurchaseId: string;
  /** Date of the token. */
  readonly tokenCreatedAt?: string;
  /** Date of the notification. */
  readonly date: string;
}

/** A refund request in a webhook. */
export interface AnnouncedRefundRequest {
  /** Id of the refund request. */
  readonly id: string;
  /** The store. */
  readonly platform: PlatformToken;
  /** The purchase. */
  readonly purchaseId: string;
  /** The payment to refund. */
  readonly transactionId: string;
  /** Reason in the store's terms. */
  readonly reason: string;
  /** Date of the request. */
  readonly requestedAt: string;
  /** Time until which the store accepts the statement. */
  readonly deadline: string;
}

/** Receipt of the app from StoreKit 1 (store_a). */
export interface AppStoreReceipt {
  /** The constant `ios-store`. */
  readonly type: 'ios-store';
  /** Transaction to validate, or the id of the app. */
  readonly id?: string;
  /** Receipt of the app, in base64. A signed transaction (JWS) is accepted, too. */
  readonly appStoreReceipt: string;
  /** Receipt of a transaction, in base64. Deprecated: send `appStoreReceipt`. */
  readonly transactionReceipt?: string;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface AppStoreReceiptBrand {
  /** The constant `ios-appstore`. */
  readonly type: 'ios-appstore';
  /** Transaction to validate, or the id of the app. */
  readonly id?: string;
  /** Receipt of the app, in base64. A signed transaction (JWS) is accepted, too. */
  readonly appStoreReceipt: string;
  /** Receipt of a transaction, in base64. Deprecated: send `appStoreReceipt`. */
  readonly transactionReceipt?: string;
  readonly [member: string]: unknown;
}

/** Signed transaction of StoreKit 2 (store_a). */
export interface AppStoreTransaction {
  /** The constant `store_a-signed`. */
  readonly type: 'store_a-signed';
  /** Product or app id. */
  readonly id?: string;
  /** Numeric id of the app in the App Store. A production transaction is rejected if it has a different one. */
  readonly appAppleId?: number;
  /** `jwsRepresentation` of a StoreKit 2 transaction or app transaction. */
  readonly jwsRepresentation: string;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface AppStoreTransactionBrand {
  /** The constant `apple-sk2`. */
  readonly type: 'apple-sk2';
  /** Product or app id. */
  readonly id?: string;
  /** Numeric id of the app in the App Store. A production transaction is rejected if it has a different one. */
  readonly appAppleId?: number;
  /** `jwsRepresentation` of a StoreKit 2 transaction or app transaction. */
  readonly jwsRepresentation: string;
  readonly [member: string]: unknown;
}

/** Payment of Braintree (processor_b). The validation makes the payment. */
export interface BraintreePayment {
  /** The constant `processor_b`. */
  readonly type: 'processor_b';
  /** Not used. */
  readonly id?: unknown;
  /** Nonce of Braintree's client SDK. The validation charges it. */
  readonly paymentMethodNonce: string;
  /** Device data of Braintree's client SDK. */
  readonly deviceData?: unknown;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface BraintreePaymentBrand {
  /** The constant `braintree`. */
  readonly type: 'braintree';
  /** Not used. */
  readonly id?: unknown;
  /** Nonce of Braintree's client SDK. The validation charges it. */
  readonly paymentMethodNonce: string;
  /** Device data of Braintree's client SDK. */
  readonly deviceData?: unknown;
  readonly [member: string]: unknown;
}

/** Why a purchase ended or does not renew: by the developer, the store or payment system, or the customer. `PAUSED`: the subscription is paused. */
export type CancelationReason = 'Developer' | 'System' | 'System.Replaced' | 'System.ProductUnavailable' | 'System.BillingError' | 'System.Deleted' | 'Customer' | 'Customer.TechnicalIssues' | 'Customer.PriceIncrease' | 'Customer.Cost' | 'Customer.FoundBetterApp' | 'Customer.NotUsefulEnough' | 'Customer.OtherReason' | 'Unknown' | 'PAUSED';

/** An offer, in the data of the app. */
export interface ClientOffer {
  /** Id of the offer. */
  readonly id?: string;
  /** Product of the offer. */
  readonly productId?: string;
  /** Type of the product. */
  readonly productType?: string;
  /** Platform of the offer. */
  readonly platform?: string;
  /** Type of the offer. */
  readonly offerType?: string;
  /** Subscription group. */
  readonly productGroup?: string;
  /** Phases of the price. */
  readonly pricingPhases?: readonly ClientPricingPhase[];
  readonly [member: string]: unknown;
}

/** A phase of the price, in the data of the app. */
export interface ClientPricingPhase {
  /** Price in millionths of `currency`. */
  readonly priceMicros?: number;
  /** ISO 4217 code. */
  readonly currency?: string;
  /** ISO 8601 duration between two payments. */
  readonly billingPeriod?: string;
  /** Repetition of the phase. */
  readonly recurrenceMode?: string;
  /** Form of the payment. */
  readonly paymentMode?: string;
  readonly [member: string]: unknown;
}

/** A product that the app sells. */
export interface ClientProduct {
  /** Product id, unique for the platform. */
  readonly id: string;
  /** Type of the product. */
  readonly type?: string;
  /** Name of the product. */
  readonly title?: string;
  /** Description of the product. */
  readonly description?: string;
  /** Platform of the product. */
  readonly platform?: string;
  /** Country of the store account. */
  readonly countryCode?: string;
  /** Subscription group. Decides for which products the introductory price was used. */
  readonly group?: string;
  /** Offers of the product. */
  readonly offers?: readonly ClientOffer[];
  readonly [member: string]: unknown;
}

/** A parent rescinded the consent for a customer. */
export interface ConsentRescindedWebhook {
  /** The constant `consent.rescinded`. */
  readonly type: 'consent.rescinded';
  /** Secret key of the app. Absent if the app excludes it; verify the signature instead. */
  readonly password?: string;
  /** The request of the store. */
  readonly storeRequest: AnnouncedConsent;
  /** The customer. Absent if no customer owns a purchase of the store account. */
  readonly applicationUsername?: string;
}

/** A credit of a customer. */
export interface Credit {
  /** What the customer can spend: `granted` - `spent` - `takenBack` - `expired`. */
  readonly balance: number;
  /** Units that payments and gifts gave. */
  readonly granted: number;
  /** Units that were spent or are held. */
  readonly spent: number;
  /** Units that refunds took back, or that were taken by hand. */
  readonly takenBack: number;
  /** Units that ended unspent. */
  readonly expired: number;
  /** The lots with units that are left, in no order. */
  readonly lots: readonly CreditLot[];
  /** The open holds. */
  readonly holds: readonly CreditHold[];
}

/** A change of the credits of a customer. */
export interface CreditChange {
  /** The customer's username in your app, 1 to 900 bytes of UTF-8. */
  readonly applicationUsername: string;
  /** The credits of the sandbox have changed. */
  readonly isSandbox: boolean;
  /** Id of the change. */
  readonly id: string;
  /** `given` by a payment or as a gift, `spent`, `held`, `captured` and `released` by the app, `taken` by hand, `expired` at their end, `taken-back` for a refund, `returned` when the refund was reversed, `received` from and `moved` to another customer. */
  readonly type: 'given' | 'taken' | 'spent' | 'held' | 'captured' | 'released' | 'expired' | 'taken-back' | 'returned' | 'received' | 'moved';
  /** Date of the change. */
  readonly at: string;
  /** Name of the credit. */
  readonly credit: string;
  /** Number of units. */
  readonly amount: number;
  /** The balance after the change. */
  readonly balance: number;
  /** End of given units. Absent without an end. */
  readonly expiresAt?: string;
  /** Id of the hold. Absent for other changes. */
  readonly holdId?: string;
  /** End of the hold, at which its units are free again. */
  readonly until?: string;
  /** Why. */
  readonly reason?: string;
  /** The API key of the request. Absent for payments and refunds. */
  readonly key?: GrantingKey;
  /** The payment. Absent for other changes. */
  readonly transactionId?: string;
  /** The purchase of the payment. */
  readonly purchaseId?: string;
}

/** Reserved units. */
export interface CreditHold {
  /** Id of the hold. */
  readonly holdId: string;
  /** Number of units. */
  readonly amount: number;
  /** When they are free again, if the hold is not captured. */
  readonly until: string;
}

/** Units that were given at once and end at once. */
export interface CreditLot {
  /** Id of the lot. */
  readonly lotId: string;
  /** A payment, or a gift by hand. */
  readonly origin: 'payment' | 'gift';
  /** Units that the lot had. */
  readonly amount: number;
  /** Units that are left. */
  readonly left: number;
  /** When they were given. */
  readonly givenAt: string;
  /** When they end. Null without an end. */
  readonly expiresAt: string | null;
}

/** The numbers of a credit of a customer. */
export interface CreditTotals {
  /** What the customer can spend: `granted` - `spent` - `takenBack` - `expired`. */
  readonly balance: number;
  /** Units that payments and gifts gave. */
  readonly granted: number;
  /** Units that were spent or are held. */
  readonly spent: number;
  /** Units that refunds took back, or that were taken by hand. */
  readonly takenBack: number;
  /** Units that ended unspent. */
  readonly expired: number;
}

/** The credits of a customer. */
export interface CustomerCredits {
  /** The customer's username in your app, 1 to 900 bytes of UTF-8. */
  readonly applicationUsername: string;
  /** They are the credits of the sandbox. */
  readonly isSandbox: boolean;
  /** The credits by name. */
  readonly credits: Readonly<Record<string, Credit>>;
  /** Time of the response. */
  readonly asOf: string;
}

/** The entitlements of a customer. */
export interface CustomerEntitlements {
  /** The customer's username in your app, 1 to 900 bytes of UTF-8. */
  readonly applicationUsername: string;
  /** All entitlements that the customer has or ever had, by name. */
  readonly entitlements: Readonly<Record<string, Entitlement>>;
  /** Time of the response. */
  readonly asOf: string;
}

/** An entitlement of a customer, by its best source. */
export interface Entitlement {
  /** The customer has access now. */
  readonly isActive: boolean;
  /** Start of the purchase or grant. Null if the store does not report it. */
  readonly since: string | null;
  /** End of access. A subscription that renews keeps access for 24 hours (`unverifiedHours`) after the renewal date. Null without an end, or, if it is not active, without a known end. */
  readonly until: string | null;
  /** The store renews the purchase at the end. */
  readonly willRenew: boolean;
  /** Whether the purchase is of the store's sandbox. */
  readonly isSandbox: boolean;
  /** The payment of a renewal failed and access goes on for now. */
  readonly isInGracePeriod: boolean;
  /** The best source: an active one takes precedence, then the one that ends last. */
  readonly source: EntitlementSource;
}

/** The purchase or the grant that gives an entitlement. */
export type EntitlementSource = PurchaseSource | GrantSource;

/** Error code: `InvalidPayload`: the request is invalid. `ConnectionFailed`: a store is unavailable, or there are too many requests; try again later. `PurchaseExpired`: the subscription expired and was not renewed. `PurchaseConsumed`: the consumable is already consumed. `InternalError`: an internal problem prevented processing; try again later. `NeedMoreData`: more data is required, such as a StoreID key or the payment. `Unknown`: an unexpected error. `AppNotFound`: no app has the name, or the app is deleted. `Conflict`: the request conflicts with another one or with the state of the record. `Forbidden`: the credentials are missing, wrong or do not allow the request. `DatabaseError`: the database is unavailable; try again later. `ResourceNotFound`: the record does not exist. */
export type ErrorCode = 'InvalidPayload' | 'ConnectionFailed' | 'PurchaseExpired' | 'PurchaseConsumed' | 'InternalError' | 'NeedMoreData' | 'Unknown' | 'AppNotFound' | 'Conflict' | 'Forbidden' | 'DatabaseError' | 'ResourceNotFound';

/** An external purchase token must be reported. */
export interface ExternalPurchaseTokenWebhook {
  /** The constant `external-purchase.token`. */
  readonly type: 'external-purchase.token';
  /** Secret key of the app. Absent if the app excludes it; verify the signature instead. */
  readonly password?: string;
  /** The request of the store. */
  readonly storeRequest: AnnouncedExternalPurchaseToken;
}

/** The grant that gives an entitlement. */
export interface GrantSource {
  /** Always `grant`. */
  readonly type: 'grant';
  /** Id of the grant. */
  readonly grantId: string;
}

/** The API key that made or changed a grant. */
export interface GrantingKey {
  /** Id of the key. */
  readonly id: string;
  /** Name of the key. */
  readonly name: string;
}

/** StoreID keys of the Microsoft Store. */
export interface License {
  /** StoreID key of the collections service. */
  readonly storeIdKey_collections?: string;
  /** StoreID key of the purchase service. */
  readonly storeIdKey_purchases?: string;
}

/** Purchase of the Microsoft Store (store_c). The keys are in `license`. */
export interface MicrosoftPurchase {
  /** The constant `store_c-transaction`. */
  readonly type: 'store_c-transaction';
  /** Product id. */
  readonly id?: string;
  /** Store ID of the product. */
  readonly storeId?: string;
  /** Store ID of the SKU. */
  readonly skuId?: string;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface MicrosoftPurchaseBrand {
  /** The constant `windows-store-transaction`. */
  readonly type: 'windows-store-transaction';
  /** Product id. */
  readonly id?: string;
  /** Store ID of the product. */
  readonly storeId?: string;
  /** Store ID of the SKU. */
  readonly skuId?: string;
  readonly [member: string]: unknown;
}

/** The store's own transaction. Its other members depend on the store. */
export interface NativeTransaction {
  /** The `type` of the request. */
  readonly type?: string;
  readonly [member: string]: unknown;
}

/** Store in the neutral vocabulary: `store_a` Apple App Store, `store_b` Google Play, `store_c` Microsoft Store, `processor_a` Stripe, `service_processor_a` Stripe by the account of the deployment, `processor_b` Braintree. */
export type NeutralPlatform = 'store_a' | 'store_b' | 'store_c' | 'processor_a' | 'service_processor_a' | 'processor_b';

/** Store in the vocabulary of the app: neutral tokens, or the brand tokens `apple`, `google`, `windows`, `stripe`, `iaptic` and `braintree`. Ids have the same prefix. */
export type PlatformToken = 'store_a' | 'store_b' | 'store_c' | 'processor_a' | 'service_processor_a' | 'processor_b' | 'apple' | 'google' | 'windows' | 'stripe' | 'iaptic' | 'braintree';

/** Purchase of Google Play (store_b). */
export interface PlayPurchase {
  /** The constant `android-store`. */
  readonly type: 'android-store';
  /** Order id. */
  readonly id?: string;
  /** Purchase token of Google Play Billing. */
  readonly purchaseToken: string;
  /** `originalJson` of the purchase, unchanged: the signature covers this text. */
  readonly receipt?: string;
  /** Signature of `receipt`, in base64. */
  readonly signature?: string;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface PlayPurchaseBrand {
  /** The constant `android-playstore`. */
  readonly type: 'android-playstore';
  /** Order id. */
  readonly id?: string;
  /** Purchase token of Google Play Billing. */
  readonly purchaseToken: string;
  /** `originalJson` of the purchase, unchanged: the signature covers this text. */
  readonly receipt?: string;
  /** Signature of `receipt`, in base64. */
  readonly signature?: string;
  readonly [member: string]: unknown;
}

/** Whether the customer agreed to a price increase (`Agreed`) or was only notified of it (`Notified`). */
export type PriceConsentStatus = 'Agreed' | 'Notified';

/** A purchase: the state that results from all of its transactions. */
export interface Purchase {
  /** Id of the purchase with its platform prefix, the same for all renewals. */
  readonly purchaseId: string;
  /** Id of the latest transaction with its platform prefix. */
  readonly transactionId: string;
  /** Product with its platform prefix, `{platform}:{productId}`. */
  readonly productId: string;
  /** Store of the purchase. */
  readonly platform: PlatformToken;
  /** Whether the purchase was made in the store's sandbox. */
  readonly sandbox?: boolean;
  /** Date of the purchase: for a subscription, of its first transaction. */
  readonly purchaseDate?: string;
  /** Date of the latest renewal. */
  readonly lastRenewalDate?: string;
  /** Date at which the subscription expires or renews. */
  readonly expirationDate?: string;
  /** `Renew` if the subscription will renew at its end, otherwise `Lapse`. */
  readonly renewalIntent?: RenewalIntent;
  /** Date at which the renewal intent changed. */
  readonly renewalIntentChangeDate?: string;
  /** Why the purchase ended or does not renew. Absent if it was not canceled. */
  readonly cancelationReason?: CancelationReason;
  /** The payment is pending. The purchase gives no access until it is paid. */
  readonly isPending?: boolean;
  /** The purchase is acknowledged at the store. */
  readonly isAcknowledged?: boolean;
  /** The consumable is consumed at the store. */
  readonly isConsumed?: boolean;
  /** The subscription is in its grace period after a failed payment. */
  readonly isBillingRetryPeriod?: boolean;
  /** The subscription is in a free trial. */
  readonly isTrialPeriod?: boolean;
  /** The subscription is in an introductory period. */
  readonly isIntroPeriod?: boolean;
  /** Whether the customer agreed to a price increase. */
  readonly priceConsentStatus?: PriceConsentStatus;
  /** Id of the applied discount. */
  readonly discountId?: string;
  /** Number of purchased units. Meaningful for consumables only. */
  readonly quantity?: number;
  /** ISO 4217 code of the currency of `amountMicros`. */
  readonly currency?: string;
  /** Another store account made the purchase, for example in a family. */
  readonly isSharedPurchase?: boolean;
  /** The subscription has expired. */
  readonly isExpired?: boolean;
  /** Renewal date since which the store could not be queried. Absent if the state is verified. */
  readonly unverifiedSince?: string;
  /** The subscription is paused. It then gives no access. */
  readonly isPaused?: boolean;
  /** Date of the automatic resume. Only present while the subscription is paused. */
  readonly autoResumeDate?: string;
  /** Amount of the latest transaction in US dollars, or null if it is unknown. */
  readonly amountUSD?: number | null;
  /** Amount of the latest transaction in millionths of `currency`, or null if it is unknown. */
  readonly amountMicros?: number | null;
}

/** Purchases of a customer, one for each product, by product id with platform prefix. */
export type PurchaseCollection = Readonly<Record<string, Purchase>>;

/** The purchase that gives an entitlement. */
export interface PurchaseSource {
  /** Always `purchase`. */
  readonly type: 'purchase';
  /** Id of the purchase. */
  readonly purchaseId: string;
  /** Store of the purchase. */
  readonly platform: PlatformToken;
  /** Purchased product. */
  readonly productId: string;
}

/** A change of a purchase of a customer. */
export interface PurchasesUpdatedWebhook {
  /** The constant `purchases.updated`. */
  readonly type: 'purchases.updated';
  /** Secret key of the app. Absent if the app excludes it; verify the signature instead. */
  readonly password?: string;
  /** What caused the webhook. */
  readonly notification: WebhookNotification;
  /** The customer whose purchases follow. */
  readonly applicationUsername: string;
  /** All of the customer's purchases by product id with platform prefix, without unpaid ones. */
  readonly purchases: PurchaseCollection;
  /** All entitlements that the customer has or ever had, by name. Absent for an app without entitlements. */
  readonly entitlements?: Readonly<Record<string, Entitlement>>;
  /** The entitlements of the purchase or grant that caused the webhook. Absent for an app without entitlements. */
  readonly entitlementsChanged?: readonly string[];
}

/** Evidence of a purchase, by store. `type` selects the form. */
export type ReceiptTransaction = AppStoreReceipt | AppStoreTransaction | PlayPurchase | MicrosoftPurchase | StripeCharge | BraintreePayment | AccessToken | AppStoreReceiptBrand | AppStoreTransactionBrand | PlayPurchaseBrand | MicrosoftPurchaseBrand | StripeChargeBrand | BraintreePaymentBrand | AccessTokenBrand;

/** A new refund request. */
export interface RefundRequestedWebhook {
  /** The constant `refund.requested`. */
  readonly type: 'refund.requested';
  /** Secret key of the app. Absent if the app excludes it; verify the signature instead. */
  readonly password?: string;
  /** The request, without the facts of the service. */
  readonly refundRequest: AnnouncedRefundRequest;
  /** The customer. Absent if no customer has claimed the purchase. */
  readonly applicationUsername?: string;
}

/** Whether the customer lets the subscription renew (`Renew`) or expire (`Lapse`). */
export type RenewalIntent = 'Lapse' | 'Renew';

/** The units to spend. */
export interface SpendRequest {
  /** Name of the credit. */
  readonly credit: string;
  /** Number of units. */
  readonly amount: number;
  /** A repeated request with the same key has the same result. */
  readonly idempotencyKey: string;
  /** The credits of the sandbox change, which are apart. Default: false. */
  readonly sandbox?: boolean;
  /** Why, at most 500 characters. */
  readonly reason?: string;
  /** The units are reserved only, until a capture or a release. */
  readonly hold?: boolean;
  /** End of the hold, at most 30 days from now. Default: in an hour. */
  readonly until?: string;
}

/** Payment of Stripe (processor_a). */
export interface StripeCharge {
  /** The constant `processor_a-charge`. */
  readonly type: 'processor_a-charge';
  /** Id of a charge, payment intent, subscription or checkout session. */
  readonly id: string;
  readonly [member: string]: unknown;
}

/** The same with the brand token, so the response has brand tokens. */
export interface StripeChargeBrand {
  /** The constant `stripe-charge`. */
  readonly type: 'stripe-charge';
  /** Id of a charge, payment intent, subscription or checkout session. */
  readonly id: string;
  readonly [member: string]: unknown;
}

/** A webhook that checks the connection to your server. */
export interface TestWebhook {
  /** The constant `test`. */
  readonly type: 'test';
  /** Secret key of the app. Absent if the app excludes it; verify the signature instead. */
  readonly password?: string;
}

/** A public key of entitlement tokens, in the format JSON Web Key. */
export interface TokenKey {
  /** The constant EC. */
  readonly kty: 'EC';
  /** The constant P-256. */
  readonly crv: 'P-256';
  /** X coordinate in base64url. */
  readonly x: string;
  /** Y coordinate in base64url. */
  readonly y: string;
  /** Id of the key, which tokens name. */
  readonly kid: string;
  /** The constant sig. */
  readonly use: 'sig';
  /** The constant ES256. */
  readonly alg: 'ES256';
}

/** A JSON Web Key Set. */
export interface TokenKeys {
  /** The key that signs, the next one, and replaced ones until their tokens have expired. */
  readonly keys: readonly TokenKey[];
}

/** The validated product and the purchases of the receipt. */
export interface ValidationData {
  /** The validated product. */
  readonly id: string;
  /** The constant true. */
  readonly latest_receipt: true;
  /** The store's own transaction. */
  readonly transaction: NativeTransaction;
  /** Purchases of the receipt that the customer owns, active ones first. */
  readonly collection: readonly ValidatorPurchase[];
  /** Products whose introductory price the customer has used. */
  readonly ineligible_for_intro_price: readonly string[];
  /** Why the response has the last verified state: the store is unavailable. */
  readonly warning?: string;
  /** The credits of the customer by name. Present if a validated product gives credits. */
  readonly credits?: Readonly<Record<string, CreditTotals>>;
  /** Date of the response. */
  readonly date: string;
}

/** The error message for released clients. */
export interface ValidationErrorMessage {
  /** Error message. */
  readonly message: string;
}

/** The receipt is not valid, the product is not owned, or the validation failed. The HTTP status is 200. */
export interface ValidationFailure {
  /** The constant false. */
  readonly ok: false;
  /** Path of the operation. */
  readonly route: string;
  /** HTTP status of the error code. */
  readonly status: number;
  /** Number of the error code: 6778001 `InvalidPayload`, 6778002 `ConnectionFailed`, 6778003 `PurchaseExpired`, 6778004 `PurchaseConsumed`, 6778005 `InternalError`, 6778006 `NeedMoreData`, 7691001 `AppNotFound`, 7691002 `Conflict`, 7691003 `Forbidden`, 7691004 `DatabaseError`. */
  readonly code: number;
  /** Error message. */
  readonly message: string;
  /** Details of the error. */
  readonly data: ValidationFailureData;
}

/** Details of the error. A missing StoreID key adds `serviceTicket` and `serviceTicketType`. */
export interface ValidationFailureData {
  /** The constant true. */
  readonly latest_receipt: true;
  /** Number of the error code: 6778001 `InvalidPayload`, 6778002 `ConnectionFailed`, 6778003 `PurchaseExpired`, 6778004 `PurchaseConsumed`, 6778005 `InternalError`, 6778006 `NeedMoreData`, 7691001 `AppNotFound`, 7691002 `Conflict`, 7691003 `Forbidden`, 7691004 `DatabaseError`. */
  readonly code: number;
  /** The error message. */
  readonly error: ValidationErrorMessage;
  readonly [member: string]: unknown;
}

/** A receipt with the product to validate. */
export interface ValidationRequest {
  /** Product to validate. With the type `application`, the id of the app. */
  readonly id: string;
  /** Type of the product. `application` validates all purchases of an app receipt (store_a only). */
  readonly type: 'application' | 'paid subscription' | 'non renewing subscription' | 'consumable' | 'non consumable';
  /** Evidence of the purchase. */
  readonly transaction: ReceiptTransaction;
  /** Price in millionths of `currency`, for stores that do not return it. It is used for statistics only. */
  readonly priceMicros?: number;
  /** ISO 4217 code of the currency of the price. */
  readonly currency?: string;
  /** Country of the store account. */
  readonly countryCode?: string;
  /** Number of units between two payments, for stores that do not return it. */
  readonly billingPeriod?: number;
  /** Unit of `billingPeriod`. */
  readonly billingPeriodUnit?: 'Day' | 'Week' | 'Month' | 'Year';
  /** Products that the app sells. */
  readonly products?: readonly ClientProduct[];
  /** The customer, if the user of the app has signed in. */
  readonly additionalData?: AdditionalData;
  /** StoreID keys (store_c only). */
  readonly license?: License;
  /** Accepted from released clients and not used. */
  readonly offers?: readonly ClientOffer[];
  /** Accepted from released clients and not used. */
  readonly group?: string;
  /** Accepted from released clients and not used. */
  readonly introPriceMicros?: number;
  /** Accepted from released clients and not used. */
  readonly introPricePeriod?: number;
  /** Accepted from released clients and not used. */
  readonly introPricePeriodUnit?: 'Day' | 'Week' | 'Month' | 'Year';
  /** Accepted from released clients and not used. */
  readonly trialPeriod?: number;
  /** Accepted from released clients and not used. */
  readonly trialPeriodUnit?: 'Day' | 'Week' | 'Month' | 'Year';
  /** Accepted from released clients and not used. */
  readonly device?: Readonly<Record<string, unknown>>;
}

/** Result of the validation. `ok` selects the form. */
export type ValidationResponse = ValidationSuccess | ValidationFailure;

/** The receipt is valid and the product is owned. */
export interface ValidationSuccess {
  /** The constant true. */
  readonly ok: true;
  /** The validated product and the purchases of the receipt. */
  readonly data: ValidationData;
}

/** A purchase of the receipt: ids without platform prefix, dates in epoch milliseconds. */
export interface ValidatorPurchase {
  /** Product id. */
  readonly id: string;
  /** Store of the purchase, with a neutral or a brand token, like the request. */
  readonly platform: string;
  /** Id of the purchase, the same for all renewals. */
  readonly purchaseId: string;
  /** Id of the latest transaction. */
  readonly transactionId: string;
  /** Date of the first transaction. */
  readonly purchaseDate?: number;
  /** Date at which the subscription expires or renews. */
  readonly expiryDate?: number;
  /** The purchase gives no access. */
  readonly isExpired?: boolean;
  /** Renewal date since which the store could not be queried. Absent if the state is verified. */
  readonly unverifiedSince?: number;
  /** `Renew` if the subscription will renew at its end, otherwise `Lapse`. */
  readonly renewalIntent?: RenewalIntent;
  /** Date at which the renewal intent changed. */
  readonly renewalIntentChangeDate?: number;
  /** Why the purchase ended or does not renew. Absent if it was not canceled. */
  readonly cancelationReason?: CancelationReason;
  /** The subscription is in its grace period after a failed payment. */
  readonly isBillingRetryPeriod?: boolean;
  /** The subscription is in a free trial. */
  readonly isTrialPeriod?: boolean;
  /** The subscription is in an introductory period. */
  readonly isIntroPeriod?: boolean;
  /** The purchase is acknowledged at the store. */
  readonly isAcknowledged?: boolean;
  /** The consumable is consumed at the store. */
  readonly isConsumed?: boolean;
  /** Id of the applied discount. */
  readonly discountId?: string;
  /** Whether the customer agreed to a price increase. */
  readonly priceConsentStatus?: PriceConsentStatus;
  /** Date of the latest renewal. */
  readonly lastRenewalDate?: number;
  /** Number of units of the latest transaction. Meaningful for consumables only. */
  readonly quantity?: number;
  /** The purchase is paused or on hold and gives no access. */
  readonly isSuspended?: boolean;
}

/** What caused a webhook. */
export interface WebhookNotification {
  /** Id of the notification. One notification can cause several webhooks, one for each entitled customer. */
  readonly id: string;
  /** Kind of the change, such as `PURCHASED`, `RENEWED`, `EXPIRED` or `REFUNDED`. */
  readonly reason: string;
  /** Date of the change. */
  readonly date: string;
  /** Product of the change, with platform prefix. */
  readonly productId?: string;
  /** Purchase of the change, with platform prefix. */
  readonly purchaseId?: string;
  /** Transaction of the change, with platform prefix. */
  readonly transactionId?: string;
}

/** The body of a webhook. `type` selects the form. */
export type WebhookEvent = PurchasesUpdatedWebhook | RefundRequestedWebhook | ConsentRescindedWebhook | ExternalPurchaseTokenWebhook | TestWebhook;

/** A code of the service, or of this package. */
export type ClaimcheckErrorCode = 'InvalidPayload' | 'ConnectionFailed' | 'PurchaseExpired' | 'PurchaseConsumed' | 'InternalError' | 'NeedMoreData' | 'Unknown' | 'AppNotFound' | 'Conflict' | 'Forbidden' | 'DatabaseError' | 'ResourceNotFound' | 'InvalidOptions' | 'Unreachable' | 'InvalidWebhook' | 'InvalidToken';

/** Codes by the number that a failed validation has. */
export const errorNumbers: Readonly<Record<number, ErrorCode>> = {
  6778001: 'InvalidPayload',
  6778002: 'ConnectionFailed',
  6778003: 'PurchaseExpired',
  6778004: 'PurchaseConsumed',
  6778005: 'InternalError',
  6778006: 'NeedMoreData',
  6778007: 'Unknown',
  7691001: 'AppNotFound',
  7691002: 'Conflict',
  7691003: 'Forbidden',
  7691004: 'DatabaseError',
  7691005: 'ResourceNotFound',
};

/** What to do about an error. */
export const errorFixes: Readonly<Record<ClaimcheckErrorCode, string>> = {
  InvalidPayload: 'Correct the field that the message names.',
  ConnectionFailed: 'A store is unavailable, or there are too many requests. Keep the current access, and try again later.',
  PurchaseExpired: 'Deny access.',
  PurchaseConsumed: 'Deny access.',
  InternalError: 'Keep the current access, and try again later.',
  NeedMoreData: 'Deny access, and validate again after the payment.',
  Unknown: 'Keep the current access, and try again later.',
  AppNotFound: 'Check the app name and the key.',
  Conflict: 'If `balance` is set, it does not suffice. Otherwise, use another idempotency key.',
  Forbidden: 'Check the app name and the key: reading and spending need the secret key.',
  DatabaseError: 'Keep the current access, and try again later.',
  ResourceNotFound: 'Check the id. A hold that has ended is not found.',
  InvalidOptions: 'Set it, usually from an environment variable. `url` is the stack output `ApiUrl`, or http://127.0.0.1:4000 with `npm start`. `claimcheck app create` prints the name and the secret key, `app set-webhook` the signing secret.',
  Unreachable: 'Check `url` and the network. Keep the current access, and try again later.',
  InvalidWebhook: 'Respond with 401. If each webhook fails, check the secret, and pass the body before it is parsed.',
  InvalidToken: 'Respond with 401. The client requests a new token from your server.',
};
