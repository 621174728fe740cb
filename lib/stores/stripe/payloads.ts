import * as v from 'valibot';
import { unavailableError } from './api-errors.ts';

/**
 * Accepts every value: null for an absent or invalid one. Stripe adds values to its enumerations, and older objects
 * lack members. Only the members that decide about access are required.
 */
const lenient = <const S extends v.GenericSchema>(schema: S) => v.fallback(v.optional(v.nullable(schema), null), null);

/** Id of an object that can be expanded. */
const Reference = v.pipe(
  v.union([v.string(), v.object({ id: v.string() })]),
  v.transform((reference) => (typeof reference === 'string' ? reference : reference.id)),
);
const NullableReference = lenient(Reference);
const Seconds = v.number();
const NullableSeconds = lenient(Seconds);
const NullableText = lenient(v.string());
/** An empty text for an absent or invalid one. */
const Text = v.fallback(v.nullish(v.string(), ''), '');
const NullableNumber = lenient(v.number());
const Flag = v.fallback(v.nullish(v.boolean(), false), false);
const Livemode = v.fallback(v.nullish(v.boolean(), true), true);
const NullableMetadata = lenient(v.record(v.string(), v.string()));
const NullableAddress = lenient(v.object({ country: NullableText }));

/** First page of a list inside a parent object. */
const listSchema = <const S extends v.GenericSchema>(schema: S) => v.object({ data: v.array(schema) });
/** A list whose elements do not decide about access. Leaves out invalid elements. */
const lenientArray = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    lenient(v.array(lenient(schema))),
    v.transform((elements) => (elements ?? []).filter((element) => element !== null)),
  );
const lenientList = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    lenient(v.object({ data: lenientArray(schema), has_more: Flag })),
    v.transform((list) => list ?? { data: [], has_more: false }),
  );

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

const Amounts = lenientArray(v.object({ amount: v.number() }));
const InvoiceLine = v.object({
  /** Without discounts and exclusive taxes. Negative for a credit. */
  amount: v.fallback(v.nullish(v.number(), 0), 0),
  discount_amounts: Amounts,
  taxes: lenientArray(v.object({ amount: v.number(), tax_behavior: NullableText })),
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

/** @see https://docs.stripe.com/api/invoices/object */
export const Invoice = v.object({
  id: v.string(),
  status: NullableText,
  amount_paid: NullableNumber,
  currency: Text,
  created: v.fallback(v.nullish(Seconds, 0), 0),
  billing_reason: NullableText,
  customer_address: NullableAddress,
  parent: lenient(v.object({ subscription_details: lenient(v.object({ subscription: Reference })) })),
  status_transitions: lenient(v.object({ paid_at: NullableSeconds })),
  lines: lenientList(InvoiceLine),
  payments: lenientList(
    v.object({ payment: v.object({ payment_intent: NullableReference, charge: NullableReference }) }),
  ),
});
export type Invoice = v.InferOutput<typeof Invoice>;

/** @see https://docs.stripe.com/api/subscriptions/object */
export const Subscription = v.object({
  id: v.string(),
  status: v.string(),
  livemode: Livemode,
  customer: NullableReference,
  start_date: NullableSeconds,
  trial_end: NullableSeconds,
  canceled_at: NullableSeconds,
  cancel_at: NullableSeconds,
  cancel_at_period_end: Flag,
  ended_at: NullableSeconds,
  cancellation_details: lenient(v.object({ reason: NullableText, feedback: NullableText })),
  discounts: lenientArray(v.union([v.string(), Discount])),
  metadata: NullableMetadata,
  latest_invoice: lenient(v.union([v.string(), Invoice])),
  items: listSchema(
    v.object({
      id: v.string(),
      created: NullableSeconds,
      quantity: NullableNumber,
      current_period_start: Seconds,
      current_period_end: Seconds,
      price: Price,
    }),
  ),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://docs.stripe.com/api/refunds/object */
export const Refund = v.object({ id: v.string(), amount: v.number(), created: Seconds, status: NullableText });
export type Refund = v.InferOutput<typeof Refund>;

/** @see https://docs.stripe.com/api/charges/object */
export const Charge = v.object({
  billing_details: lenient(v.object({ address: NullableAddress })),
  payment_method_details: lenient(v.object({ card: lenient(v.object({ country: NullableText })) })),
  id: v.string(),
  amount: v.number(),
  refunded: v.boolean(),
  disputed: Flag,
  paid: v.boolean(),
  created: NullableSeconds,
  currency: Text,
  livemode: Livemode,
  customer: NullableReference,
  payment_intent: NullableReference,
  metadata: NullableMetadata,
  /** Newest first. Has only the latest ten refunds if `has_more` is set. */
  refunds: lenientList(Refund),
});
export type Charge = v.InferOutput<typeof Charge>;

/** @see https://docs.stripe.com/api/disputes/object */
export const Dispute = v.object({
  id: v.string(),
  status: Text,
  created: NullableSeconds,
  charge: NullableReference,
  amount: NullableNumber,
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
  client_reference_id: NullableText,
  customer: NullableReference,
  customer_details: lenient(v.object({ address: NullableAddress })),
  subscription: NullableReference,
  payment_intent: lenient(v.union([v.string(), PaymentIntent])),
  metadata: NullableMetadata,
  discounts: lenientArray(v.object({ coupon: NullableReference, promotion_code: NullableReference })),
  line_items: v.exactOptional(listSchema(LineItem)),
});
export type Session = v.InferOutput<typeof Session>;

/**
 * A Stripe event. Only its reason and its object's id are used; `observe` fetches the current state of the object.
 *
 * @see https://docs.stripe.com/api/events/object
 */
export const StripeEvent = v.object({
  id: v.string(),
  type: v.string(),
  created: v.number(),
  data: v.object({
    object: v.looseObject({ id: v.exactOptional(v.string()), object: v.exactOptional(v.string()) }),
    previous_attributes: v.exactOptional(v.nullable(v.record(v.string(), v.unknown()))),
  }),
});
export type StripeEvent = v.InferOutput<typeof StripeEvent>;

/** Parses an object that Stripe returned. Throws `ConnectionFailed` if it does not match the schema. */
export function parseStripeObject<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw unavailableError(`The response is invalid at ${v.getDotPath(result.issues[0]) ?? 'its root'}.`);
}
