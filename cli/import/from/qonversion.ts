import { type ExportedPurchase, type ExportRecord, type Mover, pickColumn } from './mover.ts';

/**
 * Exports of Qonversion: purchases as CSV. The names of some columns differ between its exports and its API.
 * @see https://documentation.qonversion.io/reference/v4/exports
 */
export const qonversion: Mover = {
  requiredColumns: ['original_transaction_id', 'transaction_id', 'purchase_token', 'subscription_id'],
  toPurchase,
};

const qonversionId = /^QON_[\da-f]{32}$/i;
const appleStores: ReadonlySet<string> = new Set(['appstore', 'app_store', 'app store', 'ios', 'apple']);
const playStores: ReadonlySet<string> = new Set(['playstore', 'play_store', 'google play', 'android', 'google']);

function toPurchase(record: ExportRecord): ExportedPurchase | undefined {
  const store = (pickColumn(record, 'store', 'platform', 'source') ?? '').toLowerCase();
  const id = pickColumn(record, 'original_transaction_id', 'transaction_id', 'subscription_id', 'purchase_token');
  if (id === undefined) return undefined;
  const identity = {
    key: `${store}:${id}`,
    version: pickColumn(record, 'updated_at', 'purchased_at', 'event_time') ?? '',
  };
  const owner = toOwner(pickColumn(record, 'custom_user_id', 'identity_id', 'user_id', 'customer_id'));
  const product = pickColumn(record, 'product_id', 'store_product_id');
  const productId = product === undefined ? {} : { productId: product.split(':', 1)[0] ?? product };
  if (appleStores.has(store)) {
    const sandbox = pickColumn(record, 'environment')?.toLowerCase() === 'sandbox' ? 'true' : 'false';
    return { ...identity, move: { row: { platform: 'store_a', originalTransactionId: id, sandbox, ...owner } } };
  }
  if (playStores.has(store)) {
    const row = { platform: 'store_b', ...productId, ...owner };
    const token = pickColumn(record, 'purchase_token');
    const orderId = pickColumn(record, 'transaction_id', 'order_id') ?? id;
    return { ...identity, move: token === undefined ? { row, orderId } : { row: { ...row, token } } };
  }
  if (store === 'stripe') {
    const token = pickColumn(record, 'subscription_id') ?? id;
    return { ...identity, move: { row: { platform: 'processor_a', token, ...owner } } };
  }
  if (store === 'manual') return { ...identity, move: { id, reason: 'A grant. Create it with `grant create`.' } };
  return { ...identity, move: { id, reason: `The service does not support the store ${store || 'of the record'}.` } };
}

/** An id of Qonversion is not a customer of the app. The next validation claims the purchase. */
const toOwner = (user: string | undefined): { readonly user?: string } =>
  user === undefined || qonversionId.test(user) ? {} : { user };
