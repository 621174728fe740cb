import type { BraintreeGateway, PaymentMethodCreateRequest, TransactionRequest } from 'braintree';
import { ServiceError } from '../../errors.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { answered, found } from './client.ts';
import { type PaidTransaction, PaidTransaction as Payment, readObject, Subscription } from './objects.ts';
import type { Order } from './order.ts';
import { refusalOf, refusedResult } from './refusals.ts';
import { idsOf } from './search.ts';

/** What became of an order, as it is remembered for the nonce. */
export interface Charged {
  readonly productId: string;
  readonly customerId: string;
  readonly at: Millis;
  readonly transaction?: PaidTransaction;
  readonly subscription?: Subscription;
  /** Why the processor did not take the payment. */
  readonly refusal?: string;
}

/** What an order came to, without what the order itself tells. */
export type Outcome = Pick<Charged, 'transaction' | 'subscription' | 'refusal'>;

/** Makes the payment, or starts the subscription. */
export const charge = async (gateway: BraintreeGateway, order: Order): Promise<Outcome> =>
  order.product.type === 'paid subscription' ? await subscribe(gateway, order) : await sell(gateway, order);

/** What became of an order that was cut off; undefined when the processor knows nothing of it. */
export async function recover(gateway: BraintreeGateway, order: Order): Promise<Outcome | undefined> {
  if (order.product.type !== 'paid subscription') return await paymentOf(gateway, order);
  const subscription = await found(() => gateway.subscription.find(order.key));
  return subscription && { subscription: readObject(Subscription, subscription) };
}

async function sell(gateway: BraintreeGateway, order: Order): Promise<Outcome> {
  const { key, nonce, product, deviceData } = order;
  await ensureCustomer(gateway, order.customerId);
  const sale: TransactionRequest & { apiRequestKey: string } = {
    amount: product.amount,
    paymentMethodNonce: nonce,
    orderId: key,
    apiRequestKey: key,
    customerId: order.customerId,
    ...(deviceData !== undefined && { deviceData }),
    ...(product.merchantAccountId !== undefined && { merchantAccountId: product.merchantAccountId }),
    options: { submitForSettlement: true, storeInVaultOnSuccess: true },
  };
  const result = await answered(() => gateway.transaction.sale(sale));
  if (result.success) return outcomeOf(readObject(Payment, result.transaction));
  const refused = refusedResult(result);
  // The processor calls a payment a duplicate that it has just taken, maybe for this very order.
  const isDuplicate = refused.transaction?.gatewayRejectionReason === 'duplicate';
  const earlier = isDuplicate ? await paymentOf(gateway, order) : undefined;
  return earlier?.transaction ? earlier : { refusal: refusalOf(refused) };
}

async function paymentOf(gateway: BraintreeGateway, { key }: Order): Promise<Outcome | undefined> {
  const ids = await answered(() => idsOf(gateway, (search) => search.orderId().is(key)));
  const outcomes = [];
  for (const id of ids) {
    outcomes.push(outcomeOf(readObject(Payment, await answered(() => gateway.transaction.find(id)))));
  }
  return outcomes.find(({ transaction }) => transaction) ?? outcomes[0];
}

const unpaid = new Set([
  'processor_declined',
  'gateway_rejected',
  'failed',
  'settlement_declined',
  'authorization_expired',
]);

const outcomeOf = (transaction: PaidTransaction): Outcome =>
  unpaid.has(transaction.status) ? { refusal: refusalOf({ transaction }) } : { transaction };

async function subscribe(gateway: BraintreeGateway, order: Order): Promise<Outcome> {
  const { key, product } = order;
  await ensureCustomer(gateway, order.customerId);
  const refusal = await vault(gateway, order);
  if (refusal !== undefined) return { refusal };
  const result = await answered(() =>
    gateway.subscription.create({
      id: key,
      paymentMethodToken: key,
      planId: product.planId ?? '',
      price: product.amount,
      ...(product.merchantAccountId !== undefined && { merchantAccountId: product.merchantAccountId }),
    }),
  );
  if (result.success) return { subscription: readObject(Subscription, result.subscription) };
  const refused = refusedResult(result);
  // One that was cut off may have gone on after it was looked for: its id is taken then, by this very order.
  return (await recover(gateway, order)) ?? { refusal: refusalOf(refused) };
}

/** Keeps the payment method under the order's key; the nonce may have gone into it in a try that was cut off. */
async function vault(gateway: BraintreeGateway, order: Order): Promise<string | undefined> {
  const { key, nonce, customerId, deviceData } = order;
  if (await found(() => gateway.paymentMethod.find(key))) return undefined;
  const method: PaymentMethodCreateRequest & { token: string } = {
    customerId,
    paymentMethodNonce: nonce,
    token: key,
    ...(deviceData !== undefined && { deviceData }),
    options: { verifyCard: true, makeDefault: true },
  };
  const result = await answered(() => gateway.paymentMethod.create(method));
  if (result.success || (await found(() => gateway.paymentMethod.find(key)))) return undefined;
  return refusalOf(refusedResult(result));
}

async function ensureCustomer(gateway: BraintreeGateway, id: string): Promise<void> {
  if (await found(() => gateway.customer.find(id))) return;
  const result = await answered(() => gateway.customer.create({ id }));
  if (result.success || (await found(() => gateway.customer.find(id)))) return;
  throw new ServiceError('InternalError', 'The processor does not keep a customer for this buyer.');
}
