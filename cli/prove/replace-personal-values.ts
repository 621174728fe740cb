import type { Pseudonyms } from './pseudonyms.ts';

/**
 * Fields whose text is kept: types, states, dates, amounts and codes of the stores' documents. The text of every other
 * field is replaced, also of fields that a store adds later.
 */
const keptFields: ReadonlySet<string> = new Set([
  // All stores and the API of the service.
  ...['type', 'kind', 'status', 'state', 'currency', 'environment', 'reason', 'platform', 'quantity', 'storefront'],
  ...['renewalIntent', 'cancelationReason', 'priceConsentStatus', 'code', 'country', 'version', 'errorCode'],
  // App Store.
  ...['notificationType', 'subtype', 'inAppOwnershipType', 'transactionReason', 'offerDiscountType', 'offerType'],
  ...['offerPeriod', 'revocationType', 'data_status', 'billingPlanType'],
  // Google Play.
  ...['subscriptionState', 'acknowledgementState', 'regionCode', 'currencyCode', 'units', 'nanos', 'purchaseState'],
  ...[
    'consumptionState',
    'priceChangeMode',
    'priceChangeState',
    'eventType',
    'orderType',
    'salesChannel',
    'token_type',
  ],
  ...['consumptionState', 'eventTimeMillis', 'latestSuccessfulOrderState', 'refundReason', 'recurringPrice_state'],
  // Microsoft Store.
  ...['recurrenceState', 'productKind', 'acquisitionType', 'satisfiedByProductKind', 'market', 'devOfferKind'],
  ...['lastModified', 'aud', 'alg', 'typ', 'cancellationDate', 'orderLineItemState', 'orderState', 'isoCurrencyCode'],
  // Stripe.
  ...['object', 'interval', 'collection_method', 'billing_reason', 'mode', 'payment_status', 'billing_scheme'],
  ...['usage_type', 'livemode', 'pause_behavior', 'ui_mode', 'capture_method', 'tax_behavior', 'unit_amount_decimal'],
  ...['api_version', 'proration_behavior', 'feature', 'behavior'],
  // Braintree, in XML.
  ...['price', 'amount', 'balance', 'currency-iso-code', 'current-billing-cycle', 'number-of-billing-cycles'],
  ...['billing-day-of-month', 'billing-period-start-date', 'billing-period-end-date', 'first-billing-date'],
  ...['next-billing-date', 'paid-through-date', 'next-billing-period-amount', 'next-bill-amount', 'failure-count'],
  ...['days-past-due', 'trial-period', 'trial-duration', 'trial-duration-unit', 'payment-instrument-type', 'timestamp'],
  ...['never-expires', 'add-ons', 'discounts', 'current-page-number', 'page-size', 'total-items', 'escrow-status'],
  ...['subscription-source', 'processor-response-code', 'processor-response-type', 'recurring', 'charge-cycles'],
]);

/** Names of numbers that identify an app or a payment method. */
const personalNumber = /(?:^|_|[a-z])(?:Id|id|ID|exp_month|exp_year|last4)$/;

/** A date with a time, a boolean, a number with a unit or a constant such as `SUBSCRIPTION_STATE_ACTIVE`. */
const impersonalText =
  /^(?:|true|false|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|P(?:\d+[YMWD])+)$/;

/** A token of three parts with JSON, which a store has signed. */
const signedText = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** The content of a signed text in a recording. The replay signs it again, because the replaced values change it. */
interface Signed {
  readonly $signed: { readonly header: unknown; readonly payload: unknown };
}

/** Replaces the personal values of JSON. Signed texts are decoded. */
export function replaceInJson(value: unknown, pseudonyms: Pseudonyms, field = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => replaceInJson(element, pseudonyms, field));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, replaceInJson(member, pseudonyms, name)]),
    );
  if (typeof value === 'number') return personalNumber.test(field) ? Number(pseudonyms.replace(String(value))) : value;
  return typeof value === 'string' ? replaceInText(value, pseudonyms, field) : value;
}

function replaceInText(text: string, pseudonyms: Pseudonyms, field: string): unknown {
  if (keptFields.has(field) || impersonalText.test(text)) return text;
  const signed = signedText.test(text) ? decodeSigned(text) : undefined;
  if (!signed) return pseudonyms.replace(text);
  const { alg, typ } = (signed.header ?? {}) as { readonly alg?: unknown; readonly typ?: unknown };
  return { $signed: { header: { alg, typ }, payload: replaceInJson(signed.payload, pseudonyms) } } satisfies Signed;
}

function decodeSigned(text: string): { readonly header: unknown; readonly payload: unknown } | undefined {
  const [header = '', payload = ''] = text.split('.');
  try {
    return { header: decodePart(header), payload: decodePart(payload) };
  } catch {
    return undefined;
  }
}

const decodePart = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

/** Replaces the text of XML elements. Attributes of Braintree have types only. */
const replaceInXml = (xml: string, pseudonyms: Pseudonyms): string =>
  xml.replaceAll(
    /<([\w-]+)((?: [^<>]*)?)>([^<>]+)<\/\1>/g,
    (element, name: string, attributes: string, text: string) =>
      text.trim() === '' ? element : `<${name}${attributes}>${String(replaceInText(text, pseudonyms, name))}</${name}>`,
  );

/** Replaces the text of a response: JSON, XML or another format. */
export function replaceInBody(text: string, pseudonyms: Pseudonyms): unknown {
  if (text.trim() === '') return '';
  if (text.trimStart().startsWith('<')) return replaceInXml(text, pseudonyms);
  try {
    return replaceInJson(JSON.parse(text), pseudonyms);
  } catch {
    return pseudonyms.replace(text);
  }
}

/** A part of a path or a value of a query that the API defines, such as `subscriptionsv2`, `v8.0` or `b2b`. */
const staticPart =
  /^(?:v\d{1,2}(?:\.\d)?|b2b|[A-Za-z_[\]]*(?:v2)?|[A-Za-z_]+:[A-Za-z]+|\d{1,4}|[a-z_]+(?:\.[a-z_]+)+)$/;

/** Replaces the ids in a URL. Call it after the response: ids without a digit are found by the values that it has. */
export function replaceInUrl(url: string, pseudonyms: Pseudonyms): string {
  const { origin, pathname, searchParams } = new URL(url);
  const replacePart = (part: string, isPath: boolean): string => {
    const isStatic = staticPart.test(part) && !(isPath && part.includes('.') && !/^v\d/.test(part));
    return isStatic && !pseudonyms.has(part) ? part : pseudonyms.replace(part);
  };
  const path = pathname
    .split('/')
    .map((segment) => encodeURIComponent(replacePart(decodeURIComponent(segment), true)).replaceAll('%3A', ':'))
    .join('/');
  const query = new URLSearchParams([...searchParams].map(([name, value]) => [name, replacePart(value, false)]));
  return `${origin}${path}${query.size > 0 ? `?${query}` : ''}`;
}
