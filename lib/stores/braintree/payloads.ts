import * as v from 'valibot';
import { unavailableError } from './api-errors.ts';

const Timestamp = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'a date'),
);
const Day = v.pipe(v.string(), v.isoDate());
const isEmpty = (value: unknown): boolean => value === null || value === '' || value === undefined;
const emptyAsUndefined = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.custom<null | ''>(isEmpty),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

/** A dispute of a payment. */
const Dispute = v.object({
  id: emptyAsUndefined(v.string()),
  status: v.string(),
  amountDisputed: emptyAsUndefined(v.pipe(v.string(), v.decimal())),
  createdAt: emptyAsUndefined(Timestamp),
  receivedDate: emptyAsUndefined(Day),
  updatedAt: emptyAsUndefined(Timestamp),
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: emptyAsUndefined(Timestamp) })), []),
});
export type Dispute = v.InferOutput<typeof Dispute>;

/**
 * A payment, or a refund if its type is `credit`.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/response/transaction/node
 */
export const BraintreeTransaction = v.object({
  id: v.string(),
  type: v.string(),
  status: v.string(),
  amount: v.pipe(v.string(), v.decimal()),
  currencyIsoCode: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  refundIds: v.optional(v.array(v.string()), []),
  orderId: emptyAsUndefined(v.string()),
  customer: emptyAsUndefined(v.object({ id: emptyAsUndefined(v.string()) })),
  gatewayRejectionReason: emptyAsUndefined(v.string()),
  processorResponseCode: emptyAsUndefined(v.string()),
  processorResponseText: emptyAsUndefined(v.string()),
  paymentInstrumentType: emptyAsUndefined(v.string()),
  merchantAccountId: emptyAsUndefined(v.string()),
  subscriptionId: emptyAsUndefined(v.string()),
  /** Payments of a subscription only: the billing period that the payment is for. */
  subscription: emptyAsUndefined(v.object({ billingPeriodEndDate: emptyAsUndefined(Day) })),
  /** Refunds only: id of the refunded payment. */
  refundedTransactionId: emptyAsUndefined(v.string()),
  disputes: v.optional(v.array(Dispute), []),
  /** Statuses that the payment has had, in no particular order. */
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: emptyAsUndefined(Timestamp) })), []),
});
export type BraintreeTransaction = v.InferOutput<typeof BraintreeTransaction>;

/** @see https://developer.paypal.com/braintree/docs/reference/response/subscription/node */
export const Subscription = v.object({
  id: v.string(),
  planId: v.string(),
  paymentMethodToken: emptyAsUndefined(v.string()),
  status: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  firstBillingDate: Day,
  billingPeriodStartDate: emptyAsUndefined(Day),
  billingPeriodEndDate: emptyAsUndefined(Day),
  paidThroughDate: emptyAsUndefined(Day),
  trialPeriod: emptyAsUndefined(v.boolean()),
  neverExpires: emptyAsUndefined(v.boolean()),
  currentBillingCycle: emptyAsUndefined(v.number()),
  numberOfBillingCycles: emptyAsUndefined(v.number()),
  discounts: v.optional(v.array(v.object({ id: emptyAsUndefined(v.string()) })), []),
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: Timestamp })), []),
  transactions: v.optional(v.array(BraintreeTransaction), []),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://developer.paypal.com/braintree/docs/reference/response/payment-method/node */
export const PaymentMethod = v.object({ token: v.string(), customerId: emptyAsUndefined(v.string()) });

/** @see https://developer.paypal.com/braintree/docs/reference/response/customer/node */
export const Customer = v.object({ id: v.string(), paymentMethods: v.array(PaymentMethod) });

/** Parses an object that Braintree returned. Throws `ConnectionFailed` if it does not match the schema. */
export function parseBraintreeObject<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw unavailableError(`The response is invalid at ${v.getDotPath(result.issues[0]) ?? 'its root'}.`);
}
