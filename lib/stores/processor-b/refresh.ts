import type { BraintreeGateway } from 'braintree';
import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import { parse } from '../../shared/parse.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { createMappingContext } from './mapping-context.ts';
import { BraintreeTransaction, parseBraintreeObject, Subscription } from './payloads.ts';
import { toPaymentObservation } from './payment-observation.ts';
import { toSubscriptionObservation } from './subscription-observation.ts';

const common = { productId: v.string(), customerId: v.string() };
const RefreshToken = v.union([
  v.object({ subscription: v.string(), ...common }),
  v.object({ transaction: v.string(), ...common }),
]);

/** Fetches the current state of a payment or subscription, with its refunds. */
export const refresh = async (
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> => [await fetchObservation(await createGateway(context), refreshToken, context)];

/** Does the same as `refresh` with an existing gateway, within its time budget. */
export async function fetchObservation(
  gateway: BraintreeGateway,
  refreshToken: Readonly<Record<string, string>>,
  context: Pick<StoreContext, 'settings' | 'now'>,
): Promise<Observation> {
  const token = parse(RefreshToken, refreshToken);
  const { productId, customerId } = token;
  const mapping = createMappingContext(context, { productId, customerId, asOf: context.now() });
  if ('transaction' in token) {
    const payment = await fetchPayment(gateway, token.transaction);
    return toPaymentObservation(payment, await fetchRefunds(gateway, [payment]), mapping);
  }
  const result = await callBraintree(() => gateway.subscription.find(token.subscription));
  const subscription = parseBraintreeObject(Subscription, result);
  return toSubscriptionObservation(subscription, await fetchRefunds(gateway, subscription.transactions), mapping);
}

const fetchRefunds = async (
  gateway: BraintreeGateway,
  payments: readonly BraintreeTransaction[],
): Promise<readonly BraintreeTransaction[]> =>
  await Promise.all(payments.flatMap(({ refundIds }) => refundIds).map((id) => fetchPayment(gateway, id)));

const fetchPayment = async (gateway: BraintreeGateway, id: string): Promise<BraintreeTransaction> =>
  parseBraintreeObject(BraintreeTransaction, await callBraintree(() => gateway.transaction.find(id)));
