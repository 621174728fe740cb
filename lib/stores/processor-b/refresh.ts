import type { BraintreeGateway } from 'braintree';
import * as v from 'valibot';
import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Asking } from '../store.ts';
import { answered, gatewayOf } from './client.ts';
import { PaidTransaction, readObject, Subscription } from './objects.ts';
import { originOf } from './origin.ts';
import { subscriptionObservation } from './subscription.ts';
import { transactionObservation } from './transaction.ts';

const common = { productId: v.string(), customerId: v.string() };
const RefreshToken = v.union([
  v.object({ subscription: v.string(), ...common }),
  v.object({ transaction: v.string(), ...common }),
]);

/** The state now of a payment or a subscription, with its refunds. */
export const refresh = async (
  refreshToken: Readonly<Record<string, string>>,
  asking: Asking,
): Promise<readonly Observation[]> => [await lookAt(await gatewayOf(asking), refreshToken, asking)];

/** The same, as a part of a longer conversation. */
export async function lookAt(
  gateway: BraintreeGateway,
  refreshToken: Readonly<Record<string, string>>,
  asking: Asking,
): Promise<Observation> {
  const token = parse(RefreshToken, refreshToken);
  const { productId, customerId } = token;
  const origin = originOf(asking, { productId, customerId, at: asking.now() });
  if ('transaction' in token) {
    const payment = await paymentNamed(gateway, token.transaction);
    return transactionObservation(payment, await refundsOf(gateway, [payment]), origin);
  }
  const answer = await answered(() => gateway.subscription.find(token.subscription));
  const subscription = readObject(Subscription, answer);
  return subscriptionObservation(subscription, await refundsOf(gateway, subscription.transactions), origin);
}

const refundsOf = async (
  gateway: BraintreeGateway,
  payments: readonly PaidTransaction[],
): Promise<readonly PaidTransaction[]> =>
  await Promise.all(payments.flatMap(({ refundIds }) => refundIds).map((id) => paymentNamed(gateway, id)));

const paymentNamed = async (gateway: BraintreeGateway, id: string): Promise<PaidTransaction> =>
  readObject(PaidTransaction, await answered(() => gateway.transaction.find(id)));
