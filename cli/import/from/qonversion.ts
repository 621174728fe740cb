import { type ExportedPurchase, type ExportRecord, type Move, type Mover, pickColumn } from './mover.ts';
import { toStoreMove } from './store-move.ts';

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
  return {
    key: `${store}:${id}`,
    version: pickColumn(record, 'updated_at', 'purchased_at', 'event_time') ?? '',
    move:
      store === 'manual' ? { id, reason: 'A grant. Create it with `grant create`.' } : toMove(record, { store, id }),
  };
}

function toMove(record: ExportRecord, { store, id }: { readonly store: string; readonly id: string }): Move {
  const isPlay = playStores.has(store);
  const move = toStoreMove({
    store: isPlay ? 'play_store' : appleStores.has(store) ? 'app_store' : store,
    id,
    storeId: (store === 'stripe' ? pickColumn(record, 'subscription_id') : undefined) ?? id,
    orderId: pickColumn(record, 'transaction_id', 'order_id') ?? id,
    isSandbox: pickColumn(record, 'environment')?.toLowerCase() === 'sandbox',
    productId: pickColumn(record, 'product_id', 'store_product_id')?.split(':', 1)[0],
    owner: toOwner(pickColumn(record, 'custom_user_id', 'identity_id', 'user_id', 'customer_id')),
  });
  const token = isPlay ? pickColumn(record, 'purchase_token') : undefined;
  return token !== undefined && 'row' in move ? { row: { ...move.row, token } } : move;
}

/** An id of Qonversion is not a customer of the app. The next validation claims the purchase. */
const toOwner = (user: string | undefined): { readonly user?: string } =>
  user === undefined || qonversionId.test(user) ? {} : { user };
