import type Stripe from 'stripe';
import * as v from 'valibot';
import { Charge, Dispute, Invoice, Product, parseStripeObject, Session, Subscription } from './payloads.ts';

/** More objects than a customer has in practice. Bounds the duration of a request. */
const pagingLimit = { limit: 1_000 };
/**
 * Maximum page size of Stripe.
 *
 * @see https://docs.stripe.com/api/pagination
 */
const pageSize = 100;

/** @see https://docs.stripe.com/api/expanding_objects */
const subscriptionExpansions = ['latest_invoice', 'discounts.source.coupon'];
const sessionExpansions = ['line_items', 'payment_intent.latest_charge.refunds'];
const toListExpansions = (paths: readonly string[]): string[] => paths.map((path) => `data.${path}`);

/** Fetches a subscription with its latest invoice and coupons. */
export const fetchSubscription = async (stripe: Stripe, id: string): Promise<Subscription> =>
  parseStripeObject(Subscription, await stripe.subscriptions.retrieve(id, { expand: subscriptionExpansions }));

/** Lists the subscriptions of a customer, including the ended ones. */
export const listSubscriptions = async (stripe: Stripe, customer: string): Promise<Subscription[]> =>
  parseStripeObject(
    v.array(Subscription),
    await stripe.subscriptions
      .list({ customer, status: 'all', limit: pageSize, expand: toListExpansions(subscriptionExpansions) })
      .autoPagingToArray(pagingLimit),
  );

/** Lists the paid invoices of a customer or a subscription, with their payments. */
export const listInvoices = async (
  stripe: Stripe,
  filter: { readonly customer: string } | { readonly subscription: string },
): Promise<Invoice[]> =>
  parseStripeObject(
    v.array(Invoice),
    await stripe.invoices
      .list({ ...filter, status: 'paid', limit: pageSize, expand: ['data.payments'] })
      .autoPagingToArray(pagingLimit),
  );

/** Lists the charges of a customer, with their refunds. */
export const listCharges = async (stripe: Stripe, customer: string): Promise<Charge[]> =>
  parseStripeObject(
    v.array(Charge),
    await stripe.charges.list({ customer, limit: pageSize, expand: ['data.refunds'] }).autoPagingToArray(pagingLimit),
  );

/** Lists the disputes of the charges that are marked as disputed. */
export async function listDisputes(stripe: Stripe, charges: readonly Charge[]): Promise<Dispute[]> {
  const disputed = charges.filter((charge) => charge.disputed);
  const lists = await Promise.all(disputed.map(({ id }) => stripe.disputes.list({ charge: id, limit: pageSize })));
  return parseStripeObject(
    v.array(Dispute),
    lists.flatMap(({ data }) => data),
  );
}

/** Fetches a checkout session with its line items and payment. */
export const fetchSession = async (stripe: Stripe, id: string): Promise<Session> =>
  parseStripeObject(Session, await stripe.checkout.sessions.retrieve(id, { expand: sessionExpansions }));

/** Lists the complete checkout sessions of a customer or a payment intent. */
export const listSessions = async (
  stripe: Stripe,
  filter: { readonly customer: string } | { readonly payment_intent: string },
): Promise<Session[]> =>
  parseStripeObject(
    v.array(Session),
    await stripe.checkout.sessions
      .list({ ...filter, status: 'complete', limit: pageSize, expand: toListExpansions(sessionExpansions) })
      .autoPagingToArray(pagingLimit),
  );

/** Fetches a charge with its refunds. */
export const fetchCharge = async (stripe: Stripe, id: string): Promise<Charge> =>
  parseStripeObject(Charge, await stripe.charges.retrieve(id, { expand: ['refunds'] }));

/** Lists at most 100 products by id. Deleted products are omitted. */
export async function listProducts(stripe: Stripe, ids: readonly string[]): Promise<ReadonlyMap<string, Product>> {
  const uniqueIds = [...new Set(ids)].slice(0, pageSize);
  if (uniqueIds.length === 0) return new Map();
  const { data } = await stripe.products.list({ ids: uniqueIds, limit: pageSize });
  return new Map(parseStripeObject(v.array(Product), data).map((product) => [product.id, product]));
}
