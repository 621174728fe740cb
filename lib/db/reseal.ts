import type { Cipher } from '../apps/cipher.ts';
import { holds } from './holds.ts';
import type { Item, Table } from './table.ts';
import { updateOf } from './update-of.ts';

/** A sealed text in a field of an item, and the place that it was sealed for. */
interface SealedField {
  readonly item: Item;
  readonly field: string;
  readonly context: string;
}

/**
 * Seals a text again that is not under the first master key, and changes nothing else: what another writer has put there
 * meanwhile stays. Whether there was such a text.
 */
export async function reseal(table: Table, cipher: Cipher, { item, field, context }: SealedField): Promise<boolean> {
  const { pk, sk, [field]: sealed } = item;
  const again = typeof sealed === 'string' ? await cipher.reseal(sealed, context) : undefined;
  if (again === undefined) return false;
  const condition = { expression: '#sealed = :sealed', names: { '#sealed': field }, values: { ':sealed': sealed } };
  await holds(table, updateOf({ pk: String(pk), sk: String(sk) }, { [field]: again }, condition));
  return true;
}
