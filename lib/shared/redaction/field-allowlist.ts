/**
 * Kind of value that a field can have. `text` is human-readable, `token` a short constant. `number` and `date` can be
 * strings. `container` is an object or list whose fields are checked in turn, `map` an object by product id.
 */
export type FieldKind = 'id' | 'text' | 'token' | 'number' | 'date' | 'flag' | 'container' | 'map';

/**
 * Allowlist of fields, so that a new or misused field cannot bring a receipt, signature, key or token into the log. The
 * purchase token of Google Play is kept in ids only, because the specification makes it the `purchaseId`. Readers of
 * events have the secret key and so the same ids; using the token at the store also requires the developer's
 * credentials.
 */
const fieldsByKind: Readonly<Record<FieldKind, readonly string[]>> = {
  id: [
    'applicationUsername',
    'discountId',
    'entitledUsers',
    'from',
    'grantId',
    'id',
    'mergeId',
    'offerId',
    'productId',
    'productIds',
    'purchaseId',
    'purchaseIds',
    'reqId',
    'skuId',
    'storeId',
    'transactionId',
    'webhook-id',
  ],
  text: ['message', 'reason', 'route', 'title', 'warning'],
  token: [
    'adapter',
    'billingPeriod',
    'billingPeriodUnit',
    'cancelationReason',
    'code',
    'content-type',
    'countryCode',
    'currency',
    'currentVersion',
    'entitlement',
    'group',
    'include_notifications',
    'introPricePeriod',
    'introPricePeriodUnit',
    'isReportedAmount',
    'mode',
    'model',
    'offerType',
    'originalVersion',
    'paymentMode',
    'platform',
    'plugin',
    'price',
    'priceConsentStatus',
    'productType',
    'receipts',
    'recurrenceMode',
    'renewalIntent',
    'status',
    'trialPeriod',
    'trialPeriodUnit',
    'type',
    'user-agent',
    'version',
  ],
  number: [
    'amountMicros',
    'amountUSD',
    'attempt',
    'introPriceMicros',
    'limit',
    'offset',
    'priceMicros',
    'quantity',
    'skip',
    'webhook-timestamp',
  ],
  date: [
    'autoResumeDate',
    'date',
    'enddate',
    'expirationDate',
    'expiryDate',
    'lastRenewalDate',
    'purchaseDate',
    'renewalIntentChangeDate',
    'startdate',
    'until',
  ],
  flag: [
    'ineligible',
    'isAcknowledged',
    'isBillingRetryPeriod',
    'isConsumed',
    'isExpired',
    'isIntroPeriod',
    'isPaused',
    'isPending',
    'isSharedPurchase',
    'isSuspended',
    'isTrialPeriod',
    'activeSubscriber',
    'lapsedSubscriber',
    'latest_receipt',
    'ok',
    'sandbox',
  ],
  container: [
    'additionalData',
    'collection',
    'customerInfo',
    'data',
    'device',
    'error',
    'license',
    'notification',
    'offers',
    'pricingPhases',
    'products',
    'purchase',
    'subscription',
    'transaction',
    'transactions',
  ],
  map: ['purchases'],
};

const kindByField = new Map(
  (Object.entries(fieldsByKind) as [FieldKind, readonly string[]][]).flatMap(([kind, fields]) =>
    fields.map((field) => [field, kind] as const),
  ),
);

/** Returns the kind of a field, or undefined for a field that is not on the allowlist. */
export const getFieldKind = (field: string): FieldKind | undefined => kindByField.get(field);

/** Fields whose value is always removed but whose name is kept. Names of other unlisted fields can be secrets, too. */
const secretFields = new Set([
  'accessToken',
  'apiKey',
  'appStoreReceipt',
  'clientToken',
  'deviceData',
  'jwsRepresentation',
  'newAccessToken',
  'obfuscatedUsername',
  'password',
  'paymentMethodNonce',
  'purchaseToken',
  'receipt',
  'serviceTicket',
  'signature',
  'storeIdKey_collections',
  'storeIdKey_purchase',
  'storeIdKey_purchases',
  'transactionReceipt',
  'webhook-signature',
]);

export const isSecretField = (field: string): boolean => secretFields.has(field);
