import * as v from 'valibot';
import { parse } from '../../shared/parse.ts';

const Moment = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'a date'),
);
const Day = v.pipe(v.string(), v.isoDate());
const isEmpty = (value: unknown): boolean => value === null || value === '' || value === undefined;
const emptyAsAbsent = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.custom<null | ''>(isEmpty),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

/** A dispute of a payment, as far as it is read. */
const Dispute = v.object({
  status: v.string(),
  amountDisputed: emptyAsAbsent(v.pipe(v.string(), v.decimal())),
  createdAt: emptyAsAbsent(Moment),
  receivedDate: emptyAsAbsent(Day),
  updatedAt: emptyAsAbsent(Moment),
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: emptyAsAbsent(Moment) })), []),
});
export type Dispute = v.InferOutput<typeof Dispute>;

/** A payment, or with type `credit` a refund, as far as it is read. */
export const BraintreeTransaction = v.object({
  id: v.string(),
  type: v.string(),
  status: v.string(),
  amount: v.pipe(v.string(), v.decimal()),
  currencyIsoCode: v.string(),
  createdAt: Moment,
  updatedAt: Moment,
  refundIds: v.optional(v.array(v.string()), []),
  orderId: emptyAsAbsent(v.string()),
  customer: emptyAsAbsent(v.object({ id: emptyAsAbsent(v.string()) })),
  gatewayRejectionReason: emptyAsAbsent(v.string()),
  processorResponseCode: emptyAsAbsent(v.string()),
  processorResponseText: emptyAsAbsent(v.string()),
  paymentInstrumentType: emptyAsAbsent(v.string()),
  merchantAccountId: emptyAsAbsent(v.string()),
  subscriptionId: emptyAsAbsent(v.string()),
  /** Of a refund: the payment that it gives back. */
  refundedTransactionId: emptyAsAbsent(v.string()),
  disputes: v.optional(v.array(Dispute), []),
});
export type BraintreeTransaction = v.InferOutput<typeof BraintreeTransaction>;

/** A subscription, as far as it is read. */
export const Subscription = v.object({
  id: v.string(),
  planId: v.string(),
  status: v.string(),
  createdAt: Moment,
  updatedAt: Moment,
  firstBillingDate: Day,
  billingPeriodStartDate: emptyAsAbsent(Day),
  billingPeriodEndDate: emptyAsAbsent(Day),
  paidThroughDate: emptyAsAbsent(Day),
  trialPeriod: emptyAsAbsent(v.boolean()),
  neverExpires: emptyAsAbsent(v.boolean()),
  currentBillingCycle: emptyAsAbsent(v.number()),
  numberOfBillingCycles: emptyAsAbsent(v.number()),
  discounts: v.optional(v.array(v.object({ id: emptyAsAbsent(v.string()) })), []),
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: Moment })), []),
  transactions: v.optional(v.array(BraintreeTransaction), []),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** The processor's object as plain data; one that cannot be read is `ConnectionFailed`, as nothing is known then. */
export const parseBraintreeObject = <S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> =>
  parse(schema, value, 'ConnectionFailed');
