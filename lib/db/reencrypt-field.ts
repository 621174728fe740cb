import type { Cipher } from '../shared/cipher.ts';
import { buildUpdate } from './build-update.ts';
import type { Item, Table } from './table.ts';
import { tryUpdate } from './try-update.ts';

/** A sealed text in a field of an item, and the place that it was sealed for. */
interface EncryptedField {
  readonly item: Item;
  readonly field: string;
  readonly context: string;
}

/**
 * Seals a text again that is not under the first master key, and changes nothing else: what another writer has put there
 * meanwhile stays. Whether there was such a text.
 */
export async function reencryptField(
  table: Table,
  cipher: Cipher,
  { item, field, context }: EncryptedField,
): Promise<boolean> {
  const { pk, sk, [field]: sealed } = item;
  const reencrypted = typeof sealed === 'string' ? await cipher.reencryptIfStale(sealed, context) : undefined;
  if (reencrypted === undefined) return false;
  const condition = { expression: '#sealed = :sealed', names: { '#sealed': field }, values: { ':sealed': sealed } };
  await tryUpdate(table, buildUpdate({ pk: String(pk), sk: String(sk) }, { [field]: reencrypted }, condition));
  return true;
}
