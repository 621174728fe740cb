import type { Cipher } from './cipher.ts';
import type { FailedItem } from './failed-items.ts';
import { toKey } from './key.ts';
import type { Item, Table } from './table.ts';
import { buildUpdate, tryUpdate } from './updates.ts';

export interface Reencryption {
  /** Number of values that were encrypted under an earlier master key. */
  readonly reencrypted: number;
  readonly failed: readonly FailedItem[];
}

/** An encrypted attribute of an item, with the context of its encryption. */
interface EncryptedField {
  readonly item: Item;
  readonly field: string;
  readonly context: string;
}

/**
 * Encrypts an attribute under the current master key if it is under another one. Does not overwrite a value that
 * another writer has saved since. Returns whether the attribute was stale.
 */
export async function reencryptField(
  table: Table,
  cipher: Cipher,
  { item, field, context }: EncryptedField,
): Promise<boolean> {
  const ciphertext = item[field];
  const reencrypted = typeof ciphertext === 'string' ? await cipher.reencryptIfStale(ciphertext, context) : undefined;
  if (reencrypted === undefined) return false;
  const isUnchanged = {
    expression: '#field = :ciphertext',
    names: { '#field': field },
    values: { ':ciphertext': ciphertext },
  };
  await tryUpdate(table, buildUpdate(toKey(item), { [field]: reencrypted }, isUnchanged));
  return true;
}
