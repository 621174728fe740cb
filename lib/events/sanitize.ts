/**
 * The closed list of fields whose values may be kept. Anything else in a request or an answer is replaced, so a field
 * that nobody thought of can never carry a receipt, a signature, a key or a token into the log.
 */
const mayStay = new Set([
  'applicationUsername',
  'additionalData',
  'adapter',
  'amountMicros',
  'amountUSD',
  'billingPeriod',
  'billingPeriodUnit',
  'cancelationReason',
  'code',
  'collection',
  'countryCode',
  'currency',
  'customerInfo',
  'data',
  'date',
  'device',
  'discountId',
  'enddate',
  'entitledUsers',
  'error',
  'events',
  'expirationDate',
  'expiryDate',
  'group',
  'id',
  'include_notifications',
  'ineligible_for_intro_price',
  'introPriceMicros',
  'introPricePeriod',
  'introPricePeriodUnit',
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
  'lastRenewalDate',
  'latest_receipt',
  'limit',
  'message',
  'mode',
  'model',
  'offerId',
  'offers',
  'offset',
  'ok',
  'paymentMode',
  'platform',
  'plugin',
  'price',
  'priceConsentStatus',
  'priceMicros',
  'pricingPhases',
  'productId',
  'productType',
  'products',
  'purchaseDate',
  'purchaseId',
  'purchases',
  'quantity',
  'reason',
  'recurrenceMode',
  'renewalIntent',
  'renewalIntentChangeDate',
  'reqId',
  'route',
  'sandbox',
  'skip',
  'skuId',
  'startdate',
  'status',
  'storeId',
  'subscription',
  'title',
  'transaction',
  'transactionId',
  'transactions',
  'trialPeriod',
  'trialPeriodUnit',
  'type',
  'version',
  'warning',
]);

const removed = '[removed]';
const trimmed = '[trimmed]';
const longestText = 300;
const longestList = 20;
const deepest = 8;

/** The value with only what may stay: unlisted fields replaced, long texts and lists trimmed with a mark. */
export function sanitize(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return sanitizeText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return trimmed;
  if (Array.isArray(value)) return sanitizeList(value, depth);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => entryOf(key, inner, depth)));
}

/** Keys of `purchases` are product ids and stay; other unlisted keys are shortened, for they may be user input too. */
function entryOf(key: string, value: unknown, depth: number): [string, unknown] {
  if (mayStay.has(key))
    return [key, key === 'purchases' ? sanitizeMembers(value, depth + 1) : sanitize(value, depth + 1)];
  return [key.slice(0, 40), removed];
}

function sanitizeMembers(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return sanitize(value, depth);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [sanitizeText(key), sanitize(member, depth + 1)]),
  );
}

function sanitizeList(list: readonly unknown[], depth: number): unknown[] {
  const kept = list.slice(0, longestList).map((element) => sanitize(element, depth + 1));
  return list.length > longestList ? [...kept, `${trimmed} ${list.length - longestList} more`] : kept;
}

/** Well-formed text of a bounded length; a lone surrogate cannot be stored. */
export function sanitizeText(text: string): string {
  const short = text.length > longestText ? `${text.slice(0, longestText)} ${trimmed}` : text;
  return short.replace(/\p{Surrogate}/gu, '\uFFFD');
}
