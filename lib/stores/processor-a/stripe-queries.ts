import type Stripe from 'stripe';
import * as v from 'valibot';
import { Charge, Dispute, Invoice, Product, parseStripeObject, Session, Subscription } from './payloads.ts';

/** More of one customer than anybody buys; it bounds how long an answer can take. */
const pagingLimit = { limit: 1_000 };
const pageSize = 100;

const subscriptionExpansions = ['latest_invoice', 'discounts.source.coupon'];
const sessionExpansions = ['line_items', 'payment_intent.latest_charge.refunds'];
const toListExpansions = (paths: readonly string[]): string[] => paths.map((path) => `data.${path}`);

/** A subscription with what its mapping needs. */
export const fetchSubscription = async (stripe: Stripe, id: string): Promise<Subscription> =>
  parseStripeObject(Subscription, await stripe.subscriptions.retrieve(id, { expand: subscriptionExpansions }));

/** All subscriptions of a customer, whatever became of them. */
export const listSubscriptions = async (stripe: Stripe, customer: string): Promise<Subscription[]> =>
  parseStripeObject(
    v.array(Subscription),
    await stripe.subscriptions
      .list({ customer, status: 'all', limit: pageSize, expand: toListExpansions(subscriptionExpansions) })
      .autoPagingToArray(pagingLimit),
  );

/** The paid invoices of a customer or of one subscription, with their payments. */
export const listInvoices = async (
  stripe: Stripe,
  owner: { readonly customer: string } | { readonly subscription: string },
): Promise<Invoice[]> =>
  parseStripeObject(
    v.array(Invoice),
    await stripe.invoices
      .list({ ...owner, status: 'paid', limit: pageSize, expand: ['data.payments'] })
      .autoPagingToArray(pagingLimit),
  );

/** The charges of a customer with their refunds. */
export const listCharges = async (stripe: Stripe, customer: string): Promise<Charge[]> =>
  parseStripeObject(
    v.array(Charge),
    await stripe.charges.list({ customer, limit: pageSize, expand: ['data.refunds'] }).autoPagingToArray(pagingLimit),
  );

/** The disputes of those charges that are said to have one. */
export async function listDisputes(stripe: Stripe, charges: readonly Charge[]): Promise<Dispute[]> {
  const disputed = charges.filter((charge) => charge.disputed);
  const lists = await Promise.all(disputed.map(({ id }) => stripe.disputes.list({ charge: id, limit: pageSize })));
  return parseStripeObject(
    v.array(Dispute),
    lists.flatMap(({ data }) => data),
  );
}

/** A checkout session with what was sold and how it was paid. */
export const fetchSession = async (stripe: Stripe, id: string): Promise<Session> =>
  parseStripeObject(Session, await stripe.checkout.sessions.retrieve(id, { expand: sessionExpansions }));

/** The complete checkout sessions of a customer, or the one of a payment. */
export const listSessions = async (
  stripe: Stripe,
  owner: { readonly customer: string } | { readonly payment_intent: string },
): Promise<Session[]> =>
  parseStripeObject(
    v.array(Session),
    await stripe.checkout.sessions
      .list({ ...owner, status: 'complete', limit: pageSize, expand: toListExpansions(sessionExpansions) })
      .autoPagingToArray(pagingLimit),
  );

/** A charge with its refunds. */
export const fetchCharge = async (stripe: Stripe, id: string): Promise<Charge> =>
  parseStripeObject(Charge, await stripe.charges.retrieve(id, { expand: ['refunds'] }));

/** The products with these ids, by id; what was deleted is not among them. */
export async function listProducts(stripe: Stripe, ids: readonly string[]): Promise<ReadonlyMap<string, Product>> {
  const wanted = [...new Set(ids)].slice(0, pageSize);
  if (wanted.length === 0) return new Map();
  const { data } = await stripe.products.list({ ids: wanted, limit: pageSize });
  return new Map(parseStripeObject(v.array(Product), data).map((product) => [product.id, product]));
}
