import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { platformTokens } from '../platform.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { toUserUuid } from '../user-uuid.ts';
import { generateId, type MerchantState, type ResponseContext, toMicros } from './merchant-state.ts';
import { summarizePayments } from './payment-summary.ts';
import type { Payment, PendingOrder, Subscription } from './records.ts';
import { getPaidThroughDate, getStatus, toDate } from './views.ts';

/** Creates a nonce for an order. The purchase is created when a client validates the nonce. Returns the nonce. */
export function createPendingOrder(state: MerchantState, order: PurchaseOrder): string {
  const { products, pendingOrders } = state;
  const period = order.period ?? products.get(order.productId)?.period ?? 'P1M';
  const isPlan = order.type === 'paid subscription';
  if (order.pending && order.trial) throw controlError(422, 'pending: a free trial does not have a payment.');
  if (isPlan && !/^P\d+[MY]$/.test(period)) throw controlError(422, 'period must be in months or years.');
  const priced = { priceMicros: 4_990_000, currency: 'USD', ...products.get(order.productId), ...order };
  const {
    applicationUsername: _user,
    trial: _trial,
    autoRenew: _renew,
    form: _form,
    pending: _pending,
    country: _country,
    taxRate: _taxRate,
    freeCycles: _freeCycles,
    clientToken,
    items = [],
    ...product
  } = priced;
  products.set(order.productId, { ...product, ...(isPlan && { period }) });
  const totalMicros = computeTotal(state, order.productId, items);
  const customerId = clientToken === undefined ? undefined : findTokenCustomer(state, clientToken);
  const nonce = `tokencc_bh_${generateId(24)}`;
  pendingOrders.set(nonce, {
    nonce,
    order: { ...priced, ...(isPlan && { period }), priceMicros: order.amountMicros ?? totalMicros },
    ...(customerId !== undefined && { customerId }),
  });
  return nonce;
}

/** Returns the total of a cart. Throws 422 if it contains an unknown product. */
const computeTotal = (
  { products }: MerchantState,
  productId: string,
  items: NonNullable<PurchaseOrder['items']>,
): number =>
  [productId, ...items].reduce<number>((total, id) => {
    if (typeof id !== 'string') throw controlError(422, 'items: expected the ids of products.');
    const product = products.get(id);
    if (!product) throw controlError(422, `items: product ${id} is not found.`);
    return total + (product.amountMicros ?? product.priceMicros ?? 0);
  }, 0);

const ClientToken = v.object({ merchantId: v.string(), authorizationFingerprint: v.string() });

/** Returns the customer of a client token. Undefined if the token is for a new customer. */
function findTokenCustomer({ merchantId, customers }: MerchantState, clientToken: string): string | undefined {
  const token = v.safeParse(
    v.pipe(v.string(), v.parseJson(), ClientToken),
    Buffer.from(clientToken, 'base64').toString('utf8'),
  );
  if (!token.success || token.output.merchantId !== merchantId) throw controlError(422, 'clientToken is not valid.');
  // The client SDK reads the customer from the same place:
  // https://github.com/braintree/braintree-web-drop-in/blob/main/src/lib/is-guest-checkout.js
  const [, customerId = ''] = /[?&]customer_id=([\w-]*)/.exec(token.output.authorizationFingerprint) ?? [];
  return customers.has(customerId) ? customerId : undefined;
}

/** Returns the pending order of a nonce. Throws 404 if it is unknown. */
export function requirePendingOrder({ pendingOrders }: MerchantState, nonce: string): PendingOrder {
  const order = pendingOrders.get(nonce);
  if (!order) throw controlError(404, `Purchase ${nonce} is not found.`);
  return order;
}

interface NoncePurchase {
  readonly payment?: Payment;
  readonly subscription?: Subscription;
}

/** Finds the payment or subscription that the nonce of a pending order paid for. */
export function findPurchaseOfNonce(
  { payments, methods, subscriptions }: MerchantState,
  { nonce }: PendingOrder,
): NoncePurchase {
  const payment = [...payments.values()].find((record) => record.nonce === nonce);
  const method = [...methods.values()].find((record) => record.nonce === nonce);
  const subscription = [...subscriptions.values()].find(({ token }) => token === method?.token);
  return { ...(payment && { payment }), ...(subscription && { subscription }) };
}

/** Creates the summary of a pending order and its purchase for the control API. */
export function toPurchaseSummary({ state, now }: ResponseContext, pendingOrder: PendingOrder): PurchaseSummary {
  const { payment, subscription } = findPurchaseOfNonce(state, pendingOrder);
  const { productId: orderedId, type, applicationUsername } = pendingOrder.order;
  const productId = subscription?.planId ?? orderedId;
  return {
    id: pendingOrder.nonce,
    productId,
    type,
    state: subscription?.status ?? (payment ? getStatus(payment, now()) : 'nonce'),
    sandbox: true,
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...((payment || subscription) && { purchaseId: subscription?.id ?? payment?.id }),
    lines: [productId, ...(pendingOrder.order.items ?? [])].map((id) => ({ productId: id })),
    ...summarizePayments(state, payment ? [payment.id] : (subscription?.payments ?? [])),
    ...(subscription && { priceMicros: toMicros(subscription.price), period: `P${subscription.months}M` }),
    ...(subscription && {
      trialPeriod: subscription.isTrial,
      paidThroughDate: getPaidThroughDate(subscription),
      firstBillingDate: toDate(subscription.firstBilling),
    }),
  };
}

/** Builds the validation request of a client. */
export function buildValidateBody({ nonce, order }: PendingOrder, form = 'neutral'): Readonly<Record<string, unknown>> {
  if (form !== 'neutral' && form !== 'brand') throw controlError(400, 'form must be one of neutral, brand.');
  const { productId, type, priceMicros, currency, applicationUsername } = order;
  return {
    id: productId,
    // Existing clients send `consumable` for every product.
    type: form === 'brand' ? 'consumable' : type,
    priceMicros,
    currency,
    transaction: {
      type: form === 'brand' ? 'braintree' : platformTokens.braintree,
      id: 'nonce',
      paymentMethodNonce: nonce,
      deviceData: JSON.stringify({ correlation_id: nonce.slice(-8) }),
    },
    ...(applicationUsername !== undefined && {
      additionalData: { applicationUsername, obfuscatedUsername: toUserUuid(applicationUsername) },
    }),
  };
}
