import * as v from 'valibot';
import { unavailableError } from './api-errors.ts';

const Timestamp = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'a date'),
);
const Day = v.pipe(v.string(), v.isoDate());
const Amount = v.pipe(v.string(), v.decimal());

/**
 * Accepts every value: undefined for an absent, empty or invalid one. Braintree returns empty members as null or as an
 * empty text, and adds values. Only the members that decide about access are required.
 */
const lenient = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.fallback(v.optional(v.nullable(schema), null), null),
    v.transform((value) => value ?? undefined),
  );
/** A list whose elements do not decide about access. Leaves out invalid elements. */
const lenientArray = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.fallback(v.optional(v.nullable(v.array(lenient(schema))), null), null),
    v.transform((elements) => (elements ?? []).filter((element) => element !== undefined)),
  );
const Text = lenient(v.pipe(v.string(), v.minLength(1)));
const StatusHistory = lenientArray(v.object({ status: v.string(), timestamp: lenient(Timestamp) }));

/** A discount or an add-on of a payment. The amount is that of one unit. */
const adjustment = { amount: lenient(Amount), quantity: lenient(v.number()) };

/** A card. The country of its bank has three letters, or is `Unknown`. */
const Card = lenient(v.object({ countryOfIssuance: Text }));

/** A dispute of a payment. */
const Dispute = v.object({
  id: Text,
  kind: Text,
  status: v.string(),
  amountDisputed: lenient(Amount),
  /** What Braintree returned of it. */
  amountWon: lenient(Amount),
  /** Settlement currency, which can differ from the currency of the payment. */
  currencyIsoCode: Text,
  createdAt: lenient(Timestamp),
  receivedDate: lenient(Day),
  updatedAt: lenient(Timestamp),
  statusHistory: StatusHistory,
});
export type Dispute = v.InferOutput<typeof Dispute>;

interface DatedObject {
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly statusHistory: readonly { readonly timestamp?: string | undefined }[];
}

/** Sets a missing creation time to the earliest known time of the object. */
function withCreationTime<T extends DatedObject>(object: T): T & { createdAt: string } {
  const times = [...object.statusHistory.map(({ timestamp }) => timestamp), object.updatedAt]
    .filter((time) => time !== undefined)
    .sort();
  return { ...object, createdAt: object.createdAt ?? times[0] ?? new Date(0).toISOString() };
}

/**
 * A payment, or a refund if its type is `credit`.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/response/transaction/node
 */
export const BraintreeTransaction = v.pipe(
  v.object({
    id: v.string(),
    type: v.string(),
    status: v.string(),
    amount: Amount,
    /** Tax within the amount. */
    taxAmount: lenient(Amount),
    currencyIsoCode: Text,
    createdAt: lenient(Timestamp),
    updatedAt: lenient(Timestamp),
    refundIds: lenientArray(v.string()),
    orderId: Text,
    customer: lenient(v.object({ id: Text })),
    gatewayRejectionReason: Text,
    processorResponseCode: Text,
    processorResponseText: Text,
    paymentInstrumentType: Text,
    /** Address of the payment, if the app collects one. */
    billing: lenient(v.object({ countryCodeAlpha2: Text })),
    creditCard: Card,
    applePayCard: Card,
    androidPayCard: Card,
    discounts: lenientArray(v.object({ id: Text, ...adjustment })),
    addOns: lenientArray(v.object(adjustment)),
    merchantAccountId: Text,
    subscriptionId: Text,
    /** Payments of a subscription only: the billing period that the payment is for. */
    subscription: lenient(v.object({ billingPeriodStartDate: lenient(Day), billingPeriodEndDate: lenient(Day) })),
    /** Refunds only: id of the refunded payment. */
    refundedTransactionId: Text,
    disputes: lenientArray(Dispute),
    /** Statuses that the payment has had, in no particular order. */
    statusHistory: StatusHistory,
  }),
  v.transform(withCreationTime),
);
export type BraintreeTransaction = v.InferOutput<typeof BraintreeTransaction>;

/** A number. The official client returns numbers without a type attribute as text. */
const Count = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.number());

/** The members of a subscription that tell until when it is paid. Notifications contain them, too. */
export const PaidTime = v.object({
  status: v.string(),
  billingPeriodEndDate: lenient(Day),
  paidThroughDate: lenient(Day),
  trialPeriod: lenient(v.boolean()),
  /** 0 in a trial. */
  currentBillingCycle: lenient(Count),
  /** Each status with the price and the plan of its time, the latest first. A new price or plan adds an entry. */
  statusHistory: v.pipe(
    lenientArray(v.object({ status: v.string(), timestamp: lenient(Timestamp), price: lenient(Amount), planId: Text })),
    v.transform((entries) => entries.sort((a, b) => Date.parse(b.timestamp ?? '') - Date.parse(a.timestamp ?? ''))),
  ),
});
export type PaidTime = v.InferOutput<typeof PaidTime>;

/** @see https://developer.paypal.com/braintree/docs/reference/response/subscription/node */
export const Subscription = v.pipe(
  v.object({
    id: v.string(),
    planId: Text,
    paymentMethodToken: Text,
    ...PaidTime.entries,
    createdAt: lenient(Timestamp),
    updatedAt: lenient(Timestamp),
    firstBillingDate: lenient(Day),
    billingPeriodStartDate: lenient(Day),
    trialDuration: lenient(v.number()),
    trialDurationUnit: lenient(v.picklist(['day', 'month'])),
    neverExpires: lenient(v.boolean()),
    numberOfBillingCycles: lenient(v.number()),
    price: lenient(Amount),
    discounts: lenientArray(v.object({ id: Text, ...adjustment })),
    addOns: lenientArray(v.object(adjustment)),
    transactions: v.pipe(
      v.nullish(v.array(BraintreeTransaction), []),
      v.transform((transactions) => transactions ?? []),
    ),
  }),
  v.transform(withCreationTime),
  v.transform((subscription) => ({
    ...subscription,
    firstBillingDate: subscription.firstBillingDate ?? subscription.createdAt.slice(0, 10),
  })),
);
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://developer.paypal.com/braintree/docs/reference/response/payment-method/node */
export const PaymentMethod = v.object({ token: v.string(), customerId: Text });

/** @see https://developer.paypal.com/braintree/docs/reference/response/customer/node */
export const Customer = v.object({ id: v.string(), paymentMethods: v.array(PaymentMethod) });

/** Parses an object that Braintree returned. Throws `ConnectionFailed` if it does not match the schema. */
export function parseBraintreeObject<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw unavailableError(`The response is invalid at ${v.getDotPath(result.issues[0]) ?? 'its root'}.`);
}
