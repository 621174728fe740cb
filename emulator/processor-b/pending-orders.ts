import { controlError } from '../control-error.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { toUserUuid } from '../user-uuid.ts';
import { generateId, type MerchantState, type ResponseContext } from './merchant-state.ts';
import type { Payment, PendingOrder, Subscription } from './records.ts';
import { getStatus } from './views.ts';

/** Nothing is bought until the nonce is validated: the wish has the nonce's name and then shows what was bought. */
export function createPendingOrder({ products, pendingOrders }: MerchantState, order: PurchaseOrder): string {
  const period = order.period ?? products.get(order.productId)?.period ?? 'P1M';
  const isPlan = order.type === 'paid subscription';
  if (isPlan && !/^P\d+[MY]$/.test(period)) throw controlError(422, 'processor_b bills plans by the month.');
  const priced = { priceMicros: 4_990_000, currency: 'USD', ...products.get(order.productId), ...order };
  const { applicationUsername: _user, trial: _trial, autoRenew: _renew, form: _form, ...product } = priced;
  products.set(order.productId, { ...product, ...(isPlan && { period }) });
  const nonce = `tokencc_bh_${generateId(24)}`;
  pendingOrders.set(nonce, { nonce, order: { ...priced, ...(isPlan && { period }) } });
  return nonce;
}

/** The wish of a nonce, which must be known. */
export function requirePendingOrder({ pendingOrders }: MerchantState, nonce: string): PendingOrder {
  const found = pendingOrders.get(nonce);
  if (!found) throw controlError(404, `There is no purchase ${nonce}.`);
  return found;
}

interface NoncePurchase {
  readonly payment?: Payment;
  readonly subscription?: Subscription;
}

/** What was bought with the nonce of a wish. */
export function findPurchaseOfNonce(
  { payments, methods, subscriptions }: MerchantState,
  { nonce }: PendingOrder,
): NoncePurchase {
  const payment = [...payments.values()].find((one) => one.nonce === nonce);
  const method = [...methods.values()].find((one) => one.nonce === nonce);
  const subscription = [...subscriptions.values()].find((one) => one.token === method?.token);
  return { ...(payment && { payment }), ...(subscription && { subscription }) };
}

/** A wish, or what was bought, as the control API shows it. */
export function toPurchaseSummary({ books, now }: ResponseContext, asked: PendingOrder): PurchaseSummary {
  const { payment, subscription } = findPurchaseOfNonce(books, asked);
  const { productId, type, applicationUsername } = asked.order;
  return {
    id: asked.nonce,
    productId,
    type,
    state: subscription?.status ?? (payment ? getStatus(payment, now()) : 'nonce'),
    sandbox: true,
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...((payment || subscription) && { purchaseId: subscription?.id ?? payment?.id }),
  };
}

/** The body that a client posts to have the nonce validated. */
export function buildValidateBody({ nonce, order }: PendingOrder, form = 'neutral'): Readonly<Record<string, unknown>> {
  if (form !== 'neutral' && form !== 'brand') throw controlError(400, 'form: expected one of neutral, brand.');
  const { productId, type, priceMicros, currency, applicationUsername } = order;
  return {
    id: productId,
    // The client that exists today calls all that it sells through this processor a consumable.
    type: form === 'brand' ? 'consumable' : type,
    priceMicros,
    currency,
    transaction: {
      type: form === 'brand' ? 'braintree' : 'processor_b',
      id: 'nonce',
      paymentMethodNonce: nonce,
      deviceData: JSON.stringify({ correlation_id: nonce.slice(-8) }),
    },
    ...(applicationUsername !== undefined && {
      additionalData: { applicationUsername, obfuscatedUsername: toUserUuid(applicationUsername) },
    }),
  };
}
