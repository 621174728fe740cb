import type { BraintreeGateway, PaymentMethodCreateRequest, TransactionRequest } from 'braintree';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { callBraintree, findOrUndefined } from './braintree-client.ts';
import { parseDeclinedResult, toDeclineMessage } from './decline.ts';
import type { Order } from './order.ts';
import {
  type BraintreeTransaction,
  BraintreeTransaction as Payment,
  parseBraintreeObject,
  Subscription,
} from './payloads.ts';
import { searchPaymentIds } from './search-payments.ts';

/** What became of an order, as it is remembered for the nonce. */
export interface ChargeRecord {
  readonly productId: string;
  readonly customerId: string;
  readonly at: EpochMillis;
  readonly transaction?: BraintreeTransaction;
  readonly subscription?: Subscription;
  /** Why the processor did not take the payment. */
  readonly declineMessage?: string;
}

/** What an order came to, without what the order itself tells. */
export type ChargeOutcome = Pick<ChargeRecord, 'transaction' | 'subscription' | 'declineMessage'>;

/** Makes the payment, or starts the subscription. */
export const charge = async (gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome> =>
  order.product.type === 'paid subscription'
    ? await createSubscription(gateway, order)
    : await createSale(gateway, order);

/** What became of an order that was cut off; undefined when the processor knows nothing of it. */
export async function recoverCharge(gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome | undefined> {
  if (order.product.type !== 'paid subscription') return await findPayment(gateway, order);
  const subscription = await findOrUndefined(() => gateway.subscription.find(order.key));
  return subscription && { subscription: parseBraintreeObject(Subscription, subscription) };
}

async function createSale(gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome> {
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
  const result = await callBraintree(() => gateway.transaction.sale(sale));
  if (result.success) return toOutcome(parseBraintreeObject(Payment, result.transaction));
  const refused = parseDeclinedResult(result);
  // The processor calls a payment a duplicate that it has just taken, maybe for this very order.
  const isDuplicate = refused.transaction?.gatewayRejectionReason === 'duplicate';
  const earlier = isDuplicate ? await findPayment(gateway, order) : undefined;
  return earlier?.transaction ? earlier : { declineMessage: toDeclineMessage(refused) };
}

async function findPayment(gateway: BraintreeGateway, { key }: Order): Promise<ChargeOutcome | undefined> {
  const ids = await callBraintree(() => searchPaymentIds(gateway, (search) => search.orderId().is(key)));
  const outcomes = [];
  for (const id of ids) {
    outcomes.push(toOutcome(parseBraintreeObject(Payment, await callBraintree(() => gateway.transaction.find(id)))));
  }
  return outcomes.find(({ transaction }) => transaction) ?? outcomes[0];
}

const unpaidStatuses = new Set([
  'processor_declined',
  'gateway_rejected',
  'failed',
  'settlement_declined',
  'authorization_expired',
]);

const toOutcome = (transaction: BraintreeTransaction): ChargeOutcome =>
  unpaidStatuses.has(transaction.status) ? { declineMessage: toDeclineMessage({ transaction }) } : { transaction };

async function createSubscription(gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome> {
  const { key, product } = order;
  await ensureCustomer(gateway, order.customerId);
  const declineMessage = await vaultPaymentMethod(gateway, order);
  if (declineMessage !== undefined) return { declineMessage };
  const result = await callBraintree(() =>
    gateway.subscription.create({
      id: key,
      paymentMethodToken: key,
      planId: product.planId ?? '',
      price: product.amount,
      ...(product.merchantAccountId !== undefined && { merchantAccountId: product.merchantAccountId }),
    }),
  );
  if (result.success) return { subscription: parseBraintreeObject(Subscription, result.subscription) };
  const refused = parseDeclinedResult(result);
  // One that was cut off may have gone on after it was looked for: its id is taken then, by this very order.
  return (await recoverCharge(gateway, order)) ?? { declineMessage: toDeclineMessage(refused) };
}

/** Keeps the payment method under the order's key; the nonce may have gone into it in a try that was cut off. */
async function vaultPaymentMethod(gateway: BraintreeGateway, order: Order): Promise<string | undefined> {
  const { key, nonce, customerId, deviceData } = order;
  if (await findOrUndefined(() => gateway.paymentMethod.find(key))) return undefined;
  const method: PaymentMethodCreateRequest & { token: string } = {
    customerId,
    paymentMethodNonce: nonce,
    token: key,
    ...(deviceData !== undefined && { deviceData }),
    options: { verifyCard: true, makeDefault: true },
  };
  const result = await callBraintree(() => gateway.paymentMethod.create(method));
  if (result.success || (await findOrUndefined(() => gateway.paymentMethod.find(key)))) return undefined;
  return toDeclineMessage(parseDeclinedResult(result));
}

async function ensureCustomer(gateway: BraintreeGateway, id: string): Promise<void> {
  if (await findOrUndefined(() => gateway.customer.find(id))) return;
  const result = await callBraintree(() => gateway.customer.create({ id }));
  if (result.success || (await findOrUndefined(() => gateway.customer.find(id)))) return;
  throw new ServiceError('InternalError', 'The processor does not keep a customer for this buyer.');
}
