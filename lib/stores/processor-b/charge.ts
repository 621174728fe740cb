import type { BraintreeGateway, PaymentMethodCreateRequest, TransactionRequest } from 'braintree';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { callBraintree, findOrUndefined } from './braintree-client.ts';
import { parseDeclinedResult, toDeclineMessage } from './decline.ts';
import type { Order } from './order.ts';
import { BraintreeTransaction, parseBraintreeObject, Subscription } from './payloads.ts';
import { searchPaymentIds } from './search-payments.ts';

/** Stored result of an order, replayed if the same nonce is submitted again. */
export interface ChargeRecord {
  readonly productId: string;
  readonly customerId: string;
  readonly at: EpochMillis;
  readonly transaction?: BraintreeTransaction;
  readonly subscription?: Subscription;
  /** Public message of a declined payment. */
  readonly declineMessage?: string;
}

/** The part of a charge record that Braintree determines. */
export type ChargeOutcome = Pick<ChargeRecord, 'transaction' | 'subscription' | 'declineMessage'>;

/** Charges an order: creates a payment or a subscription. */
export const charge = async (gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome> =>
  order.product.type === 'paid subscription'
    ? await createSubscription(gateway, order)
    : await createSale(gateway, order);

/** Finds the outcome of an interrupted order at Braintree. Returns undefined if nothing was charged. */
export async function recoverCharge(gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome | undefined> {
  if (order.product.type !== 'paid subscription') return await findPayment(gateway, order);
  const subscription = await findOrUndefined(() => gateway.subscription.find(order.key));
  return subscription && { subscription: parseBraintreeObject(Subscription, subscription) };
}

/** @see https://developer.paypal.com/braintree/docs/reference/request/transaction/sale */
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
  if (result.success) return toOutcome(parseBraintreeObject(BraintreeTransaction, result.transaction));
  const declined = parseDeclinedResult(result);
  // An earlier attempt for this order can be the payment that makes this one a duplicate:
  // https://developer.paypal.com/braintree/articles/control-panel/transactions/duplicate-checking
  const isDuplicate = declined.transaction?.gatewayRejectionReason === 'duplicate';
  const earlier = isDuplicate ? await findPayment(gateway, order) : undefined;
  return earlier?.transaction ? earlier : { declineMessage: toDeclineMessage(declined) };
}

async function findPayment(gateway: BraintreeGateway, { key }: Order): Promise<ChargeOutcome | undefined> {
  const ids = await callBraintree(() => searchPaymentIds(gateway, (search) => search.orderId().is(key)));
  const outcomes = [];
  for (const id of ids) {
    const transaction = await callBraintree(() => gateway.transaction.find(id));
    outcomes.push(toOutcome(parseBraintreeObject(BraintreeTransaction, transaction)));
  }
  return outcomes.find(({ transaction }) => transaction) ?? outcomes[0];
}

/** @see https://developer.paypal.com/braintree/docs/reference/general/statuses */
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
  const declined = parseDeclinedResult(result);
  // An interrupted attempt for the same order can complete after the recovery check. It then owns the subscription id.
  return (await recoverCharge(gateway, order)) ?? { declineMessage: toDeclineMessage(declined) };
}

/**
 * Stores the payment method under the order's key. Idempotent: an interrupted attempt can have consumed the nonce
 * already. Returns the message if the card is declined.
 */
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

/** Creates the customer if it does not exist. A concurrent request can create it first. */
async function ensureCustomer(gateway: BraintreeGateway, id: string): Promise<void> {
  if (await findOrUndefined(() => gateway.customer.find(id))) return;
  const result = await callBraintree(() => gateway.customer.create({ id }));
  if (result.success || (await findOrUndefined(() => gateway.customer.find(id)))) return;
  throw new ServiceError('InternalError', 'Braintree rejected the customer.');
}
