import type { BraintreeGateway } from 'braintree';
import * as v from 'valibot';
import { parse } from '../../foundation/parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { CartItem } from './cart.ts';
import { fetchEarlierPayments } from './earlier-payments.ts';
import { createMappingContext, type MappingContext } from './mapping-context.ts';
import { BraintreeTransaction, parseBraintreeObject, Subscription } from './payloads.ts';
import { toPaymentObservations } from './payment-observation.ts';
import { toSubscriptionObservation } from './subscription-observation.ts';

const common = {
  productId: v.string(),
  items: v.exactOptional(v.pipe(v.string(), v.parseJson(), v.array(CartItem))),
  customerId: v.exactOptional(v.string()),
};
const RefreshToken = v.union([
  v.object({ subscription: v.string(), ...common }),
  v.object({ transaction: v.string(), ...common }),
]);

/** The objects of a purchase at Braintree: a subscription or a payment, with the refunds of its payments. */
export type PurchaseObjects = { readonly refunds: readonly BraintreeTransaction[] } & (
  | { readonly subscription: Subscription }
  | { readonly transaction: BraintreeTransaction }
);

/** Fetches the current state of a payment or subscription, with its refunds. */
export const refresh = async (
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> => await fetchObservations(await createGateway(context), refreshToken, context);

/**
 * Does the same as `refresh` with an existing gateway, within its time budget. `paymentId` is a payment of the purchase
 * whose state is needed.
 */
export async function fetchObservations(
  gateway: BraintreeGateway,
  refreshToken: Readonly<Record<string, string>>,
  context: Pick<StoreContext, 'settings' | 'now' | 'listTransactions'>,
  paymentId?: string,
): Promise<Observation[]> {
  const token = parse(RefreshToken, refreshToken);
  const { productId, items, customerId } = token;
  const mapping = createMappingContext(context, { productId, items, customerId, asOf: context.now() });
  return toObservations(await fetchPurchaseObjects(gateway, token, { ...context, paymentId }), mapping);
}

/** Maps the objects of a purchase to observations: several for the payment of a cart. */
export const toObservations = (objects: PurchaseObjects, mapping: MappingContext): Observation[] =>
  'subscription' in objects
    ? [toSubscriptionObservation(objects.subscription, objects.refunds, mapping)]
    : toPaymentObservations(objects.transaction, objects.refunds, mapping);

interface FetchContext extends Pick<StoreContext, 'listTransactions'> {
  readonly paymentId?: string | undefined;
}

/** Fetches the objects of the purchase with these ids. */
export async function fetchPurchaseObjects(
  gateway: BraintreeGateway,
  ids: { readonly subscription: string } | { readonly transaction: string },
  { listTransactions, paymentId }: FetchContext,
): Promise<PurchaseObjects> {
  if ('transaction' in ids) {
    const transaction = await fetchPayment(gateway, ids.transaction);
    return { transaction, refunds: await fetchRefunds(gateway, [transaction]) };
  }
  const result = await callBraintree(() => gateway.subscription.find(ids.subscription));
  const subscription = parseBraintreeObject(Subscription, result);
  const fetchOne = async (id: string) => await fetchPayment(gateway, id);
  const earlier = await fetchEarlierPayments(subscription, { gateway, fetchPayment: fetchOne, listTransactions });
  const known = [...subscription.transactions, ...earlier];
  const isMissing = paymentId !== undefined && !known.some(({ id }) => id === paymentId);
  const transactions = [...known, ...(isMissing ? [await fetchOne(paymentId)] : [])];
  return { subscription: { ...subscription, transactions }, refunds: await fetchRefunds(gateway, transactions) };
}

const fetchRefunds = async (
  gateway: BraintreeGateway,
  payments: readonly BraintreeTransaction[],
): Promise<readonly BraintreeTransaction[]> =>
  await Promise.all(payments.flatMap(({ refundIds }) => refundIds).map((id) => fetchPayment(gateway, id)));

const fetchPayment = async (gateway: BraintreeGateway, id: string): Promise<BraintreeTransaction> =>
  parseBraintreeObject(BraintreeTransaction, await callBraintree(() => gateway.transaction.find(id)));
