import * as v from 'valibot';
import { parse } from '../../parse.ts';

const Moment = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'a date'),
);
const Day = v.pipe(v.string(), v.isoDate());
const nothing = (value: unknown): boolean => value === null || value === '' || value === undefined;
const optional = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.custom<null | ''>(nothing),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

/** A dispute of a payment, as far as it is read. */
const Dispute = v.object({
  status: v.string(),
  amountDisputed: optional(v.pipe(v.string(), v.decimal())),
  createdAt: optional(Moment),
  receivedDate: optional(Day),
  updatedAt: optional(Moment),
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: optional(Moment) })), []),
});
export type Dispute = v.InferOutput<typeof Dispute>;

/** A payment, or with type `credit` a refund, as far as it is read. */
export const PaidTransaction = v.object({
  id: v.string(),
  type: v.string(),
  status: v.string(),
  amount: v.pipe(v.string(), v.decimal()),
  currencyIsoCode: v.string(),
  createdAt: Moment,
  updatedAt: Moment,
  refundIds: v.optional(v.array(v.string()), []),
  orderId: optional(v.string()),
  customer: optional(v.object({ id: optional(v.string()) })),
  gatewayRejectionReason: optional(v.string()),
  processorResponseCode: optional(v.string()),
  processorResponseText: optional(v.string()),
  paymentInstrumentType: optional(v.string()),
  merchantAccountId: optional(v.string()),
  subscriptionId: optional(v.string()),
  /** Of a refund: the payment that it gives back. */
  refundedTransactionId: optional(v.string()),
  disputes: v.optional(v.array(Dispute), []),
});
export type PaidTransaction = v.InferOutput<typeof PaidTransaction>;

/** A subscription, as far as it is read. */
export const Subscription = v.object({
  id: v.string(),
  planId: v.string(),
  status: v.string(),
  createdAt: Moment,
  updatedAt: Moment,
  firstBillingDate: Day,
  billingPeriodStartDate: optional(Day),
  billingPeriodEndDate: optional(Day),
  paidThroughDate: optional(Day),
  trialPeriod: optional(v.boolean()),
  neverExpires: optional(v.boolean()),
  currentBillingCycle: optional(v.number()),
  numberOfBillingCycles: optional(v.number()),
  discounts: v.optional(v.array(v.object({ id: optional(v.string()) })), []),
  statusHistory: v.optional(v.array(v.object({ status: v.string(), timestamp: Moment })), []),
  transactions: v.optional(v.array(PaidTransaction), []),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** The processor's object as plain data; one that cannot be read is `ConnectionFailed`, as nothing is known then. */
export const readObject = <S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> =>
  parse(schema, value, 'ConnectionFailed');
