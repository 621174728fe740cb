import * as v from 'valibot';
import { secondMs } from '../../foundation/time.ts';
import { unavailableError } from './api-errors.ts';
import { hasIncompleteList } from './complete-lists.ts';
import {
  Flag,
  Livemode,
  lenient,
  lenientArray,
  lenientList,
  listSchema,
  NullableAddress,
  NullableMetadata,
  NullableNumber,
  NullableReference,
  NullableSeconds,
  NullableText,
  Reference,
  Seconds,
  Text,
} from './lenient-schemas.ts';

/** @see https://docs.stripe.com/api/products/object */
export const Product = v.object({
  id: v.string(),
  active: Flag,
  name: Text,
  description: NullableText,
  metadata: NullableMetadata,
});
export type Product = v.InferOutput<typeof Product>;

/** @see https://docs.stripe.com/api/prices/object */
export const Price = v.object({
  id: v.string(),
  active: Flag,
  currency: Text,
  product: v.union([v.string(), Product, v.object({ id: v.string() })]),
  recurring: lenient(v.object({ interval: v.string(), interval_count: v.number(), trial_period_days: NullableNumber })),
  unit_amount: NullableNumber,
  /** A decimal object of the Stripe client. `String()` returns the number. */
  unit_amount_decimal: v.optional(v.unknown()),
  /** Only set if it was expanded: the amounts in other currencies. */
  currency_options: lenient(v.record(v.string(), v.object({ unit_amount: NullableNumber }))),
  /** `graduated` or `volume`: the price of a unit depends on the quantity. */
  tiers_mode: NullableText,
  /** The price is for a package of units. */
  transform_quantity: lenient(v.object({ divide_by: v.number(), round: NullableText })),
  metadata: NullableMetadata,
});
export type Price = v.InferOutput<typeof Price>;

const Coupon = v.object({ id: v.string(), duration: NullableText });
const Discount = v.object({
  end: NullableSeconds,
  promotion_code: NullableReference,
  source: lenient(v.object({ coupon: lenient(v.union([v.string(), Coupon])) })),
});
export type Discount = v.InferOutput<typeof Discount>;
const Discounts = lenientArray(v.union([v.string(), Discount]));

const Amounts = lenientArray(v.object({ amount: v.number() }));
const InvoiceLine = v.object({
  /** Without discounts and exclusive taxes. Negative for a credit. */
  amount: v.fallback(v.nullish(v.number(), 0), 0),
  discount_amounts: Amounts,
  /** Discounts again, and what a credit grant paid of the line. */
  pretax_credit_amounts: lenientArray(v.object({ amount: v.number(), type: NullableText })),
  taxes: lenientArray(
    v.object({
      amount: v.number(),
      tax_behavior: NullableText,
      tax_rate_details: lenient(v.object({ tax_rate: NullableText })),
    }),
  ),
  period: v.object({ start: Seconds, end: Seconds }),
  quantity: NullableNumber,
  parent: lenient(
    v.object({
      subscription_item_details: lenient(v.object({ proration: Flag, subscription_item: NullableText })),
      invoice_item_details: lenient(v.object({ proration: Flag })),
    }),
  ),
  pricing: lenient(v.object({ price_details: lenient(v.object({ price: Reference, product: v.string() })) })),
});

/** @see https://docs.stripe.com/api/invoice-payment/object */
const InvoicePayment = v.object({
  /** `open`, `paid` or `canceled`. */
  status: NullableText,
  amount_paid: NullableNumber,
  status_transitions: lenient(v.object({ paid_at: NullableSeconds })),
  /** A payment record is a payment outside of Stripe. */
  payment: v.object({
    payment_intent: NullableReference,
    charge: NullableReference,
    payment_record: NullableReference,
  }),
});

const InvoiceParent = lenient(v.object({ subscription_details: lenient(v.object({ subscription: Reference })) }));

/** The member of an invoice that names its subscription. */
export const InvoiceOwner = v.object({ parent: InvoiceParent });
export type InvoiceOwner = v.InferOutput<typeof InvoiceOwner>;

/** @see https://docs.stripe.com/api/invoices/object */
export const Invoice = v.object({
  ...InvoiceOwner.entries,
  id: v.string(),
  status: NullableText,
  amount_paid: NullableNumber,
  currency: Text,
  created: v.fallback(v.nullish(Seconds, 0), 0),
  /** Only set for an invoice that the customer pays by hand (`send_invoice`). */
  due_date: NullableSeconds,
  /** False while collection is paused: Stripe has not tried to collect the payment. */
  attempted: lenient(v.boolean()),
  /** The first attempt to collect the payment and the automatic retries. */
  attempt_count: NullableNumber,
  billing_reason: NullableText,
  /** Credit notes after the payment: refunds, credits to the balance, and amounts that were paid back elsewhere. */
  post_payment_credit_notes_amount: NullableNumber,
  /** Credit notes before the payment: the customer does not owe this part of the total. */
  pre_payment_credit_notes_amount: NullableNumber,
  customer_address: NullableAddress,
  status_transitions: lenient(v.object({ paid_at: NullableSeconds, finalized_at: NullableSeconds })),
  total_taxes: Amounts,
  lines: lenientList(InvoiceLine),
  /** The payments, which can be several. */
  payments: lenientList(InvoicePayment),
});
export type Invoice = v.InferOutput<typeof Invoice>;

/** @see https://docs.stripe.com/api/subscription_schedules/object */
export const SubscriptionSchedule = v.object({
  status: NullableText,
  /** `cancel`: the subscription ends with the last phase. */
  end_behavior: NullableText,
  phases: lenientArray(v.object({ end_date: Seconds })),
});
export type SubscriptionSchedule = v.InferOutput<typeof SubscriptionSchedule>;

/** @see https://docs.stripe.com/api/subscriptions/object */
export const Subscription = v.object({
  id: v.string(),
  status: v.string(),
  /** The currency of its invoices. The price of an item can have another one. */
  currency: NullableText,
  livemode: Livemode,
  customer: NullableReference,
  created: NullableSeconds,
  start_date: NullableSeconds,
  /** Stays after the trial. */
  trial_start: NullableSeconds,
  /** Moves when the trial is extended or ended early. */
  trial_end: NullableSeconds,
  canceled_at: NullableSeconds,
  cancel_at: NullableSeconds,
  cancel_at_period_end: Flag,
  /** The schedule that manages the subscription. */
  schedule: NullableReference,
  ended_at: NullableSeconds,
  cancellation_details: lenient(v.object({ reason: NullableText, feedback: NullableText })),
  /** Only set while the status is `paused`. */
  status_details: lenient(v.object({ paused: lenient(v.object({ transitioned_at: NullableSeconds })) })),
  discounts: Discounts,
  metadata: NullableMetadata,
  latest_invoice: lenient(v.union([v.string(), Invoice])),
  items: listSchema(
    v.object({
      id: v.string(),
      created: NullableSeconds,
      quantity: NullableNumber,
      current_period_start: Seconds,
      current_period_end: Seconds,
      /** A trial of this item alone. */
      current_trial: lenient(v.object({ start_date: Seconds, end_date: Seconds })),
      price: Price,
      discounts: Discounts,
    }),
  ),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://docs.stripe.com/api/refunds/object */
export const Refund = v.object({ id: v.string(), amount: v.number(), created: Seconds, status: NullableText });
export type Refund = v.InferOutput<typeof Refund>;

/** @see https://docs.stripe.com/api/credit_notes/object */
export const CreditNote = v.object({
  id: v.string(),
  invoice: Reference,
  /** `issued` or `void`. */
  status: NullableText,
  created: Seconds,
  out_of_band_amount: NullableNumber,
  refunds: lenientArray(v.object({ type: NullableText, amount_refunded: v.number() })),
});
export type CreditNote = v.InferOutput<typeof CreditNote>;

const RecordedAmount = v.object({ value: v.fallback(v.nullish(v.number(), 0), 0) });

/** @see https://docs.stripe.com/api/payment-record/object */
export const PaymentRecord = v.object({
  id: v.string(),
  amount: RecordedAmount,
  /** The sum of all refunds. Stripe reports neither their dates nor an event. */
  amount_refunded: RecordedAmount,
});
export type PaymentRecord = v.InferOutput<typeof PaymentRecord>;

/** @see https://docs.stripe.com/api/balance_transactions/object */
export const BalanceTransaction = v.object({ created: Seconds });

/**
 * Marks the refund with which Stripe releases what was not captured of an authorization: its money was never paid. It
 * is the first refund of the charge. The only refund of a charge that is refunded in full is of the captured part.
 *
 * @see https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
 * @see https://github.com/solidusio/solidus_stripe/pull/268
 * @see https://github.com/woocommerce/woocommerce-gateway-stripe/issues/1073
 */
const withRelease = (refunds: readonly Refund[], released: number, isRefunded: boolean): Refund[] =>
  refunds.map((refund, index) => {
    const isRelease = index === refunds.length - 1 && refund.amount === released && !(isRefunded && index === 0);
    return isRelease ? { ...refund, status: 'canceled' } : refund;
  });

/** @see https://docs.stripe.com/api/charges/object */
export const Charge = v.pipe(
  v.object({
    billing_details: lenient(v.object({ address: NullableAddress })),
    payment_method_details: lenient(v.object({ card: lenient(v.object({ country: NullableText })) })),
    id: v.string(),
    amount: v.number(),
    /** Less than `amount` if a part of the authorization was captured. */
    amount_captured: NullableNumber,
    refunded: v.boolean(),
    disputed: Flag,
    /** Also true for an authorization. */
    paid: v.boolean(),
    /** False for an authorization, which is captured later or released. */
    captured: lenient(v.boolean()),
    status: NullableText,
    created: NullableSeconds,
    /** Reverses the balance after a debit that failed days after its creation. */
    failure_balance_transaction: NullableReference,
    currency: Text,
    livemode: Livemode,
    customer: NullableReference,
    payment_intent: NullableReference,
    metadata: NullableMetadata,
    /** Newest first. */
    refunds: lenientList(Refund),
  }),
  v.transform((charge) => {
    const { amount, captured, amount_captured, refunded, refunds } = charge;
    if (captured === false || !amount_captured) return charge;
    return {
      ...charge,
      amount: amount_captured,
      refunds: { ...refunds, data: withRelease(refunds.data, amount - amount_captured, refunded) },
    };
  }),
);
export type Charge = v.InferOutput<typeof Charge>;

/** @see https://docs.stripe.com/api/disputes/object */
export const Dispute = v.object({
  id: v.string(),
  status: Text,
  created: NullableSeconds,
  charge: NullableReference,
  amount: NullableNumber,
  currency: NullableText,
  /** A negative amount is a withdrawal, a positive amount its return. */
  balance_transactions: lenientArray(v.object({ amount: v.number(), created: Seconds })),
});
export type Dispute = v.InferOutput<typeof Dispute>;

/** @see https://docs.stripe.com/api/payment_intents/object */
export const PaymentIntent = v.object({
  id: v.string(),
  status: Text,
  amount_received: NullableNumber,
  currency: Text,
  created: NullableSeconds,
  livemode: Livemode,
  customer: NullableReference,
  metadata: NullableMetadata,
  latest_charge: lenient(v.union([v.string(), Charge])),
});
export type PaymentIntent = v.InferOutput<typeof PaymentIntent>;

const LineItem = v.object({
  id: NullableText,
  quantity: NullableNumber,
  amount_total: NullableNumber,
  amount_tax: NullableNumber,
  price: v.nullable(Price),
});
export type LineItem = v.InferOutput<typeof LineItem>;

/** @see https://docs.stripe.com/api/checkout/sessions/object */
export const Session = v.object({
  id: v.string(),
  mode: v.string(),
  status: NullableText,
  payment_status: v.string(),
  created: NullableSeconds,
  livemode: Livemode,
  currency: NullableText,
  amount_total: NullableNumber,
  total_details: lenient(v.object({ amount_tax: NullableNumber })),
  client_reference_id: NullableText,
  customer: NullableReference,
  customer_details: lenient(v.object({ address: NullableAddress })),
  subscription: NullableReference,
  payment_intent: lenient(v.union([v.string(), PaymentIntent])),
  /** One-time sales only if the session has `invoice_creation`: created when the payment succeeds. */
  invoice: lenient(v.union([v.string(), Invoice])),
  metadata: NullableMetadata,
  discounts: lenientArray(v.object({ coupon: NullableReference, promotion_code: NullableReference })),
  line_items: v.exactOptional(listSchema(LineItem)),
});
export type Session = v.InferOutput<typeof Session>;

/** @see https://docs.stripe.com/api/events/object */
const SnapshotEvent = v.object({
  id: v.string(),
  type: v.string(),
  created: v.number(),
  data: v.object({
    object: v.looseObject({ id: v.exactOptional(v.string()), object: v.exactOptional(v.string()) }),
    previous_attributes: v.exactOptional(v.nullable(v.record(v.string(), v.unknown()))),
  }),
});

/**
 * An event without the object that changed, only with its id.
 * @see https://docs.stripe.com/event-destinations#thin-events
 */
const ThinEvent = v.pipe(
  v.object({
    id: v.string(),
    object: v.literal('v2.core.event'),
    type: v.string(),
    created: v.pipe(v.string(), v.isoTimestamp()),
    related_object: v.nullish(v.object({ id: v.string() })),
  }),
  v.transform(
    ({ id, type, created, related_object: object }): v.InferOutput<typeof SnapshotEvent> => ({
      id,
      type: type.replace(/^v1\./, ''),
      created: Date.parse(created) / secondMs,
      data: { object: { ...object, isReference: true } },
    }),
  ),
);

/** Only the reason and the object's id are used; `observe` fetches the current state of the object. */
export const StripeEvent = v.union([SnapshotEvent, ThinEvent]);
export type StripeEvent = v.InferOutput<typeof StripeEvent>;

/**
 * Parses an object that Stripe returned. Throws `ConnectionFailed` if it does not match the schema, or if a list in it
 * is not complete.
 */
export function parseStripeObject<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (!result.success) {
    throw unavailableError(`The response is invalid at ${v.getDotPath(result.issues[0]) ?? 'its root'}.`);
  }
  if (hasIncompleteList(result.output)) throw unavailableError('The response has an incomplete list.');
  return result.output;
}
