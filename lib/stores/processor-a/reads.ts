import type Stripe from 'stripe';
import * as v from 'valibot';
import { Charge, Dispute, Invoice, Product, read, Session, Subscription } from './objects.ts';

/** More of one customer than anybody buys; it bounds how long an answer can take. */
const most = { limit: 1_000 };
const page = 100;

const ofSubscription = ['latest_invoice', 'discounts.source.coupon'];
const ofSession = ['line_items', 'payment_intent.latest_charge.refunds'];
const ofList = (paths: readonly string[]): string[] => paths.map((path) => `data.${path}`);

/** A subscription with what its mapping needs. */
export const readSubscription = async (stripe: Stripe, id: string): Promise<Subscription> =>
  read(Subscription, await stripe.subscriptions.retrieve(id, { expand: ofSubscription }));

/** All subscriptions of a customer, whatever became of them. */
export const subscriptionsOf = async (stripe: Stripe, customer: string): Promise<Subscription[]> =>
  read(
    v.array(Subscription),
    await stripe.subscriptions
      .list({ customer, status: 'all', limit: page, expand: ofList(ofSubscription) })
      .autoPagingToArray(most),
  );

/** The paid invoices of a customer or of one subscription, with their payments. */
export const invoicesOf = async (
  stripe: Stripe,
  owner: { readonly customer: string } | { readonly subscription: string },
): Promise<Invoice[]> =>
  read(
    v.array(Invoice),
    await stripe.invoices
      .list({ ...owner, status: 'paid', limit: page, expand: ['data.payments'] })
      .autoPagingToArray(most),
  );

/** The charges of a customer with their refunds. */
export const chargesOf = async (stripe: Stripe, customer: string): Promise<Charge[]> =>
  read(
    v.array(Charge),
    await stripe.charges.list({ customer, limit: page, expand: ['data.refunds'] }).autoPagingToArray(most),
  );

/** The disputes of those charges that are said to have one. */
export async function disputesOf(stripe: Stripe, charges: readonly Charge[]): Promise<Dispute[]> {
  const disputed = charges.filter((charge) => charge.disputed);
  const lists = await Promise.all(disputed.map(({ id }) => stripe.disputes.list({ charge: id, limit: page })));
  return read(
    v.array(Dispute),
    lists.flatMap(({ data }) => data),
  );
}

/** A checkout session with what was sold and how it was paid. */
export const readSession = async (stripe: Stripe, id: string): Promise<Session> =>
  read(Session, await stripe.checkout.sessions.retrieve(id, { expand: ofSession }));

/** The complete checkout sessions of a customer, or the one of a payment. */
export const sessionsOf = async (
  stripe: Stripe,
  owner: { readonly customer: string } | { readonly payment_intent: string },
): Promise<Session[]> =>
  read(
    v.array(Session),
    await stripe.checkout.sessions
      .list({ ...owner, status: 'complete', limit: page, expand: ofList(ofSession) })
      .autoPagingToArray(most),
  );

/** A charge with its refunds. */
export const readCharge = async (stripe: Stripe, id: string): Promise<Charge> =>
  read(Charge, await stripe.charges.retrieve(id, { expand: ['refunds'] }));

/** The products with these ids, by id; what was deleted is not among them. */
export async function productsNamed(stripe: Stripe, ids: readonly string[]): Promise<ReadonlyMap<string, Product>> {
  const wanted = [...new Set(ids)].slice(0, page);
  if (wanted.length === 0) return new Map();
  const { data } = await stripe.products.list({ ids: wanted, limit: page });
  return new Map(read(v.array(Product), data).map((product) => [product.id, product]));
}
