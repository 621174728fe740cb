import { type ExportedPurchase, type ExportRecord, type Move, type Mover, pickColumn } from './mover.ts';
import { toStoreMove } from './store-move.ts';

/** RevenueCat made the id: an anonymous customer is not a customer of the app. */
export const isAnonymous = (id: string): boolean => id.startsWith('$RCAnonymousID:');

/** Reasons for stores of which an export does not suffice. */
const unmovableStores: Readonly<Record<string, string>> = {
  promotional: 'A grant. Create it with `grant create`: the store does not have it.',
  amazon: 'The service does not support the Amazon Appstore.',
};

/**
 * Exports of RevenueCat: transactions (Scheduled Data Exports), and the purchase tokens that its support sends.
 * @see https://www.revenuecat.com/docs/integrations/scheduled-data-exports
 */
export const revenuecat: Mover = {
  requiredColumns: ['store_transaction_id', 'google_purchase_token'],
  toPurchase: (record) => (record.google_purchase_token ? fromTokenList(record) : fromTransaction(record)),
};

function fromTokenList(record: ExportRecord): ExportedPurchase {
  const token = record.google_purchase_token ?? '';
  const [productId = ''] = (record.google_product_id ?? '').split(':');
  return {
    key: `store_b:${token}`,
    version: '',
    move: { row: { platform: 'store_b', token, ...(productId && { productId }), ...toUser(record.user_id) } },
  };
}

function fromTransaction(record: ExportRecord): ExportedPurchase | undefined {
  const id = pickColumn(record, 'store_transaction_id');
  const originalId = pickColumn(record, 'original_store_transaction_id', 'store_transaction_id');
  if (id === undefined || originalId === undefined) return undefined;
  const store = record.store ?? '';
  return {
    key: `${store}:${originalId}`,
    version: `${record.updated_at ?? ''} ${record.start_time ?? ''}`,
    move: toMove(record, { store, id, originalId }),
  };
}

function toMove(
  record: ExportRecord,
  { store, id, originalId }: { readonly store: string; readonly id: string; readonly originalId: string },
): Move {
  const reason = unmovableStores[store];
  if (reason !== undefined) return { id: originalId, reason };
  const [productId] = (record.product_identifier ?? '').split(':');
  return toStoreMove({
    store,
    id: originalId,
    storeId: originalId,
    orderId: id,
    isSandbox: /^t/i.test(record.is_sandbox ?? ''),
    productId,
    owner: toUser(record.rc_last_seen_app_user_id_alias, record.rc_original_app_user_id),
  });
}

/** An anonymous id is not a customer: the purchase is imported without an owner, and the next validation claims it. */
function toUser(...ids: readonly (string | undefined)[]): { readonly user?: string } {
  const user = ids.map((id) => id?.trim() ?? '').find((id) => id !== '' && !isAnonymous(id));
  return user === undefined ? {} : { user };
}
