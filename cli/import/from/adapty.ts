import { type ExportedPurchase, type ExportRecord, type Mover, pickColumn } from './mover.ts';

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
  const { store = '', environment = '' } = record;
  const customer = pickColumn(record, 'customer_user_id');
  const user = customer === undefined ? {} : { user: customer };
  const identity = { key: `${store}:${id}`, version: record.event_datetime ?? '' };
  if (store === 'app_store') {
    const sandbox = environment.toLowerCase() === 'sandbox' ? 'true' : 'false';
    return { ...identity, move: { row: { platform: 'store_a', originalTransactionId: id, sandbox, ...user } } };
  }
  if (store === 'play_store') {
    const row = { platform: 'store_b', productId: record.product_id ?? '', ...user };
    return { ...identity, move: { row, orderId: pickColumn(record, 'transaction_id') ?? id } };
  }
  if (store === 'stripe') return { ...identity, move: { row: { platform: 'processor_a', token: id, ...user } } };
  return { ...identity, move: { id, reason: `The service does not support the store ${store || 'of the record'}.` } };
}
