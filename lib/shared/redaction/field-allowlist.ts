/**
 * What the value of a field may be: `id` an identifier; `text` words for people; `word` a short token; `number`
 * and `date` what their names say, also as text; `flag` true or false; `inside` an object or list whose own fields are judged; `map` an object by product id.
 */
export type FieldKind = 'id' | 'text' | 'word' | 'number' | 'date' | 'flag' | 'inside' | 'map';

/**
 * The closed list of fields that may be kept, and as what. A field that nobody thought of, or a known one that holds
 * something else (a receipt where an object belongs), can never carry a receipt, a signature, a key or a token into the log.
 *
 * The purchase token of store_b stays where it is an id, and only there: the specification makes it the `purchaseId`, so
 * the event could not name its purchase without it. Who reads events holds the secret key and reads the same id from the
 * purchases; using the token at the store takes the developer's own credentials.
 */
const fieldsByKind: Readonly<Record<FieldKind, readonly string[]>> = {
  id: [
    'applicationUsername',
    'discountId',
    'entitledUsers',
    'id',
    'offerId',
    'productId',
    'productIds',
    'purchaseId',
    'purchaseIds',
    'reqId',
    'skuId',
    'storeId',
    'transactionId',
  ],
  text: ['message', 'reason', 'route', 'title', 'warning'],
  word: [
    'adapter',
    'billingPeriod',
    'billingPeriodUnit',
    'cancelationReason',
    'code',
    'countryCode',
    'currency',
    'currentVersion',
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
    'version',
  ],
  number: ['amountMicros', 'amountUSD', 'introPriceMicros', 'limit', 'offset', 'priceMicros', 'quantity', 'skip'],
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
  inside: [
    'additionalData',
    'collection',
    'customerInfo',
    'data',
    'device',
    'error',
    'license',
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

/** What a field may hold; undefined for a field that is not on the list. */
export const getFieldKind = (field: string): FieldKind | undefined => kindByField.get(field);

/** Fields that are known never to stay: their names show that they were sent. Other unlisted names may be secrets too. */
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
]);

export const isSecretField = (field: string): boolean => secretFields.has(field);
