import type { BraintreeGateway, CustomerCreateRequest, TransactionRequest } from 'braintree';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { callBraintree, findOrUndefined } from './braintree-client.ts';
import type { CartItem } from './cart.ts';
import { listErrorCodes, parseDeclinedResult, toDeclineMessage } from './decline.ts';
import type { Order, PricedOrder } from './order.ts';
import { BraintreeTransaction, Customer, PaymentMethod, parseBraintreeObject, Subscription } from './payloads.ts';
import { searchPaymentIds } from './search-payments.ts';

/** Stored result of an order, replayed if the same nonce is submitted again. */
export interface ChargeRecord extends ChargeOutcome {
  readonly productId: string;
  /** The products of a cart, `productId` first. */
  readonly items?: readonly CartItem[];
  /** Digest of the buyer's username and the nonce: see `toBuyerDigest`. Undefined for an anonymous buyer. */
  readonly buyer?: string;
  readonly at: EpochMillis;
}

/** The part of a charge record that Braintree determines. */
export interface ChargeOutcome {
  readonly transaction?: BraintreeTransaction;
  readonly subscription?: Subscription;
  /** Customer in Braintree's vault to which the payment method belongs. */
  readonly customerId?: string;
  /** Public message of a declined payment. */
  readonly declineMessage?: string;
}

/** Charges an order: creates a payment or a subscription. */
export const charge = async (gateway: BraintreeGateway, order: PricedOrder): Promise<ChargeOutcome> =>
  order.product.type === 'paid subscription'
    ? await createSubscription(gateway, order)
    : await createSale(gateway, order);

/** Finds the outcome of an interrupted order at Braintree. Returns undefined if nothing was charged. */
export const recoverCharge = async (gateway: BraintreeGateway, order: Order): Promise<ChargeOutcome | undefined> =>
  (await recoverSubscription(gateway, order)) ?? (await findPayment(gateway, order));

async function recoverSubscription(gateway: BraintreeGateway, { key }: Order): Promise<ChargeOutcome | undefined> {
  const subscription = await findOrUndefined(() => gateway.subscription.find(key));
  return subscription && (await toSubscriptionOutcome(gateway, subscription));
}

/**
 * Sells without a customer id: the payment belongs to the customer of the payment method. For a payment method that is
 * not in the vault, Braintree creates a customer.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/transaction/sale/node
 * @see https://developer.paypal.com/braintree/docs/guides/credit-cards/server-side/node
 */
async function createSale(gateway: BraintreeGateway, order: PricedOrder): Promise<ChargeOutcome> {
  const { key, nonce, product, amount, deviceData } = order;
  const sale: TransactionRequest & { apiRequestKey: string } = {
    amount,
    paymentMethodNonce: nonce,
    orderId: key,
    apiRequestKey: key,
    ...omitUndefined({ deviceData }),
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
  unpaidStatuses.has(transaction.status)
    ? { declineMessage: toDeclineMessage({ transaction }) }
    : { transaction, ...omitUndefined({ customerId: transaction.customer?.id }) };

/** @see https://developer.paypal.com/braintree/docs/reference/request/subscription/create/node */
async function createSubscription(gateway: BraintreeGateway, order: PricedOrder): Promise<ChargeOutcome> {
  const { key, product, amount } = order;
  const method = await vaultPaymentMethod(gateway, order);
  if ('declineMessage' in method) return method;
  const result = await callBraintree(() =>
    gateway.subscription.create({
      id: key,
      ...method,
      planId: product.planId ?? '',
      price: amount,
      ...(product.merchantAccountId !== undefined && { merchantAccountId: product.merchantAccountId }),
    }),
  );
  if (result.success) return await toSubscriptionOutcome(gateway, result.subscription);
  const declined = parseDeclinedResult(result);
  // An interrupted attempt for the same order can complete after the recovery check. It then owns the subscription id.
  return (await recoverSubscription(gateway, order)) ?? { declineMessage: toDeclineMessage(declined) };
}

/** The payment method of a subscription: a token, or the nonce of a payment method that is in the vault already. */
type SubscriptionMethod = { readonly paymentMethodToken: string } | { readonly paymentMethodNonce: string };

/**
 * Validation error for the nonce of a payment method in the vault:
 * `VaultedPaymentInstrumentNonceBelongsToDifferentCustomer`.
 */
const vaultedNonceCode = '91617';

/**
 * Stores the payment method with a separate customer, because a subscription needs a payment method in the vault. The
 * customer has the order's key as id. Idempotent: an interrupted attempt can have consumed the nonce already.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/customer/create/node
 */
async function vaultPaymentMethod(
  gateway: BraintreeGateway,
  order: Order,
): Promise<SubscriptionMethod | { readonly declineMessage: string }> {
  const { key, nonce, deviceData } = order;
  const existing = await findMethodOfCustomer(gateway, key);
  if (existing) return existing;
  const customer = {
    id: key,
    paymentMethodNonce: nonce,
    ...omitUndefined({ deviceData }),
    creditCard: { options: { verifyCard: true } },
  } as CustomerCreateRequest;
  const result = await callBraintree(() => gateway.customer.create(customer));
  if (!result.success && listErrorCodes(result).includes(vaultedNonceCode)) return { paymentMethodNonce: nonce };
  // A concurrent request can create the customer first.
  const method = result.success ? toSubscriptionMethod(result.customer) : await findMethodOfCustomer(gateway, key);
  return method ?? { declineMessage: toDeclineMessage(parseDeclinedResult(result)) };
}

async function findMethodOfCustomer(gateway: BraintreeGateway, id: string): Promise<SubscriptionMethod | undefined> {
  const customer = await findOrUndefined(() => gateway.customer.find(id));
  return customer && toSubscriptionMethod(customer);
}

function toSubscriptionMethod(customer: unknown): SubscriptionMethod | undefined {
  const [method] = parseBraintreeObject(Customer, customer).paymentMethods;
  return method && { paymentMethodToken: method.token };
}

async function toSubscriptionOutcome(gateway: BraintreeGateway, result: unknown): Promise<ChargeOutcome> {
  const subscription = parseBraintreeObject(Subscription, result);
  return { subscription, ...omitUndefined({ customerId: await findCustomerId(gateway, subscription) }) };
}

/** Returns the customer of the first payment. A trial does not have a payment yet. */
async function findCustomerId(
  gateway: BraintreeGateway,
  { transactions, paymentMethodToken }: Subscription,
): Promise<string | undefined> {
  const customerId = transactions[0]?.customer?.id;
  if (customerId !== undefined || paymentMethodToken === undefined) return customerId;
  const method = await findOrUndefined(() => gateway.paymentMethod.find(paymentMethodToken));
  return method && parseBraintreeObject(PaymentMethod, method).customerId;
}
