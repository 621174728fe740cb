import * as v from 'valibot';
import { unavailableError } from './api-errors.ts';

/** Id of an object that can be expanded. */
const Reference = v.pipe(
  v.union([v.string(), v.object({ id: v.string() })]),
  v.transform((reference) => (typeof reference === 'string' ? reference : reference.id)),
);
const NullableReference = v.optional(v.nullable(Reference), null);
const Seconds = v.number();
const NullableSeconds = v.optional(v.nullable(Seconds), null);
const NullableText = v.optional(v.nullable(v.string()), null);
const NullableMetadata = v.optional(v.nullable(v.record(v.string(), v.string())), {});

/** First page of a list inside a parent object. */
const listSchema = <const S extends v.GenericSchema>(schema: S) => v.object({ data: v.array(schema) });

/** @see https://docs.stripe.com/api/products/object */
export const Product = v.object({
  id: v.string(),
  active: v.boolean(),
  name: v.string(),
  description: NullableText,
  metadata: NullableMetadata,
});
export type Product = v.InferOutput<typeof Product>;

/** @see https://docs.stripe.com/api/prices/object */
export const Price = v.object({
  id: v.string(),
  active: v.boolean(),
  currency: v.string(),
  product: v.union([v.string(), Product, v.object({ id: v.string() })]),
  recurring: v.nullable(
    v.object({
      interval: v.string(),
      interval_count: v.number(),
      trial_period_days: v.optional(v.nullable(v.number()), null),
    }),
  ),
  unit_amount: v.nullable(v.number()),
  /** A decimal object of the Stripe client. `String()` returns the number. */
  unit_amount_decimal: v.unknown(),
  metadata: NullableMetadata,
});
export type Price = v.InferOutput<typeof Price>;

const Coupon = v.object({ id: v.string(), duration: v.string() });
const Discount = v.object({
  end: NullableSeconds,
  promotion_code: NullableReference,
  source: v.object({ coupon: v.nullable(v.union([v.string(), Coupon])) }),
});
export type Discount = v.InferOutput<typeof Discount>;

const InvoiceLine = v.object({
  period: v.object({ start: Seconds, end: Seconds }),
  quantity: v.nullable(v.number()),
  parent: v.nullable(
    v.object({
      subscription_item_details: v.optional(v.nullable(v.object({ proration: v.boolean() })), null),
      invoice_item_details: v.optional(v.nullable(v.object({ proration: v.boolean() })), null),
    }),
  ),
  pricing: v.nullable(
    v.object({ price_details: v.exactOptional(v.object({ price: Reference, product: v.string() })) }),
  ),
});

/** @see https://docs.stripe.com/api/invoices/object */
export const Invoice = v.object({
  id: v.string(),
  status: v.nullable(v.string()),
  amount_paid: v.number(),
  currency: v.string(),
  created: Seconds,
  billing_reason: v.nullable(v.string()),
  parent: v.nullable(v.object({ subscription_details: v.nullable(v.object({ subscription: Reference })) })),
  status_transitions: v.object({ paid_at: v.nullable(Seconds) }),
  lines: listSchema(InvoiceLine),
  payments: v.exactOptional(
    listSchema(
      v.object({
        payment: v.object({ payment_intent: v.exactOptional(Reference), charge: v.exactOptional(Reference) }),
      }),
    ),
  ),
});
export type Invoice = v.InferOutput<typeof Invoice>;

/** @see https://docs.stripe.com/api/subscriptions/object */
export const Subscription = v.object({
  id: v.string(),
  status: v.string(),
  livemode: v.boolean(),
  customer: Reference,
  created: Seconds,
  start_date: Seconds,
  trial_end: v.nullable(Seconds),
  canceled_at: v.nullable(Seconds),
  cancel_at: v.nullable(Seconds),
  cancel_at_period_end: v.boolean(),
  ended_at: v.nullable(Seconds),
  cancellation_details: v.nullable(v.object({ reason: v.nullable(v.string()), feedback: v.nullable(v.string()) })),
  discounts: v.array(v.union([v.string(), Discount])),
  metadata: NullableMetadata,
  latest_invoice: v.nullable(v.union([v.string(), Invoice])),
  items: listSchema(
    v.object({
      id: v.string(),
      quantity: v.exactOptional(v.number()),
      current_period_start: Seconds,
      current_period_end: Seconds,
      price: Price,
    }),
  ),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://docs.stripe.com/api/refunds/object */
export const Refund = v.object({
  id: v.string(),
  amount: v.number(),
  created: Seconds,
  status: v.nullable(v.string()),
});
export type Refund = v.InferOutput<typeof Refund>;

/** @see https://docs.stripe.com/api/charges/object */
export const Charge = v.object({
  id: v.string(),
  amount: v.number(),
  refunded: v.boolean(),
  disputed: v.boolean(),
  paid: v.boolean(),
  created: Seconds,
  currency: v.string(),
  livemode: v.boolean(),
  customer: NullableReference,
  payment_intent: NullableReference,
  metadata: NullableMetadata,
  /** Newest first. Has only the latest ten refunds if `has_more` is set. */
  refunds: v.optional(v.nullable(v.object({ data: v.array(Refund), has_more: v.optional(v.boolean(), false) })), null),
});
export type Charge = v.InferOutput<typeof Charge>;

/** @see https://docs.stripe.com/api/disputes/object */
export const Dispute = v.object({ status: v.string(), created: Seconds, charge: Reference });
export type Dispute = v.InferOutput<typeof Dispute>;

/** @see https://docs.stripe.com/api/payment_intents/object */
export const PaymentIntent = v.object({
  id: v.string(),
  status: v.string(),
  amount_received: v.number(),
  currency: v.string(),
  created: Seconds,
  livemode: v.boolean(),
  customer: NullableReference,
  metadata: NullableMetadata,
  latest_charge: v.nullable(v.union([v.string(), Charge])),
});
export type PaymentIntent = v.InferOutput<typeof PaymentIntent>;

/** @see https://docs.stripe.com/api/checkout/sessions/object */
export const Session = v.object({
  id: v.string(),
  mode: v.string(),
  status: v.nullable(v.string()),
  payment_status: v.string(),
  created: Seconds,
  livemode: v.boolean(),
  currency: v.nullable(v.string()),
  amount_total: v.nullable(v.number()),
  client_reference_id: v.nullable(v.string()),
  customer: NullableReference,
  subscription: NullableReference,
  payment_intent: v.nullable(v.union([v.string(), PaymentIntent])),
  metadata: NullableMetadata,
  discounts: v.optional(
    v.nullable(v.array(v.object({ coupon: NullableReference, promotion_code: NullableReference }))),
    null,
  ),
  line_items: v.exactOptional(listSchema(v.object({ quantity: v.nullable(v.number()), price: v.nullable(Price) }))),
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
