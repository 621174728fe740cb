import { type ExportedPurchase, type ExportRecord, type Mover, pickColumn } from './mover.ts';
import { toStoreMove } from './store-move.ts';

/**
 * Exports of Adapty: the events of its S3 export, and the files of its import format.
 * @see https://adapty.io/docs/importing-historical-data-to-adapty
 */
export const adapty: Mover = {
  requiredColumns: ['apple_original_transaction_id', 'google_purchase_token', 'stripe_token', 'event_type'],
  toPurchase: (record) => (record.event_type === undefined ? fromImportFile(record) : fromEvent(record)),
};

function fromImportFile(record: ExportRecord): ExportedPurchase | undefined {
  const user = record.user_id ? { user: record.user_id } : {};
  const {
    apple_original_transaction_id: originalTransactionId,
    google_purchase_token: token,
    stripe_token: id,
  } = record;
  if (originalTransactionId)
    return toPurchase(originalTransactionId, { platform: 'store_a', originalTransactionId, ...user });
  const productId = record.google_product_id ? { productId: record.google_product_id } : {};
  if (token) return toPurchase(token, { platform: 'store_b', token, ...productId, ...user });
  return id ? toPurchase(id, { platform: 'processor_a', token: id, ...user }) : undefined;
}

const toPurchase = (key: string, row: Readonly<Record<string, string>>): ExportedPurchase => ({
  key,
  version: '',
  move: { row },
});

function fromEvent(record: ExportRecord): ExportedPurchase | undefined {
  const id = pickColumn(record, 'original_transaction_id', 'transaction_id');
  if (id === undefined) return undefined;
  const { store = '', environment = '', product_id: productId = '' } = record;
  const user = pickColumn(record, 'customer_user_id');
  const orderId = pickColumn(record, 'transaction_id') ?? id;
  const isSandbox = environment.toLowerCase() === 'sandbox';
  const owner = user === undefined ? {} : { user };
  return {
    key: `${store}:${id}`,
    version: record.event_datetime ?? '',
    move: toStoreMove({ store, id, storeId: id, orderId, isSandbox, productId, owner }),
  };
}
