import pMap from 'p-map';
import type Stripe from 'stripe';
import * as v from 'valibot';
import { splitIntoChunks } from '../../shared/batches.ts';
import { Charge, Dispute, Invoice, Product, parseStripeObject, Refund, Session, Subscription } from './payloads.ts';

/** More objects than a customer has in practice. Bounds the duration of a request. */
const pagingLimit = { limit: 1_000 };
/**
 * Maximum page size of Stripe.
 *
 * @see https://docs.stripe.com/api/pagination
 */
const pageSize = 100;

/** Number of concurrent requests of one operation. Stripe limits the requests per second of an account. */
const concurrency = 8;

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

/** Lists the charges of a customer, with their latest refunds. */
export const listCharges = async (stripe: Stripe, customer: string): Promise<Charge[]> =>
  parseStripeObject(
    v.array(Charge),
    await stripe.charges.list({ customer, limit: pageSize, expand: ['data.refunds'] }).autoPagingToArray(pagingLimit),
  );

/** Completes the refunds of charges. An expanded list has ten refunds at most. */
export const completeRefunds = async (stripe: Stripe, charges: readonly Charge[]): Promise<Charge[]> =>
  await pMap(
    charges,
    async (charge) => {
      if (!charge.refunds?.has_more) return charge;
      const refunds = await stripe.refunds.list({ charge: charge.id, limit: pageSize }).autoPagingToArray(pagingLimit);
      return { ...charge, refunds: { data: parseStripeObject(v.array(Refund), refunds), has_more: false } };
    },
    { concurrency },
  );

/** Lists the disputes of the charges that are marked as disputed. */
export async function listDisputes(stripe: Stripe, charges: readonly Charge[]): Promise<Dispute[]> {
  const disputed = charges.filter((charge) => charge.disputed);
  const listByCharge = async ({ id }: Charge) =>
    await stripe.disputes.list({ charge: id, limit: pageSize }).autoPagingToArray(pagingLimit);
  const lists = await pMap(disputed, listByCharge, { concurrency });
  return parseStripeObject(v.array(Dispute), lists.flat());
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

/** Fetches a charge with its latest refunds. */
export const fetchCharge = async (stripe: Stripe, id: string): Promise<Charge> =>
  parseStripeObject(Charge, await stripe.charges.retrieve(id, { expand: ['refunds'] }));

/** Lists products by id. Deleted products are omitted. */
export async function listProducts(stripe: Stripe, ids: readonly string[]): Promise<ReadonlyMap<string, Product>> {
  const chunks = splitIntoChunks([...new Set(ids)], pageSize);
  const lists = await pMap(chunks, async (chunk) => await stripe.products.list({ ids: [...chunk], limit: pageSize }), {
    concurrency,
  });
  const products = parseStripeObject(
    v.array(Product),
    lists.flatMap(({ data }) => data),
  );
  return new Map(products.map((product) => [product.id, product]));
}
