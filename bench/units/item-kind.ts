import type { Key } from '../../lib/foundation/key.ts';

/** Item kinds by the letter in the partition key and, if needed, the first letter of the sort key. */
const kinds: Readonly<Record<string, string>> = {
  'P P': 'purchase',
  'P C': 'claim',
  'P N': 'notification',
  'P T': 'transaction',
  'C C': 'customer',
  'C P': "customer's purchase",
  'C W': "word of a customer's name",
  'U U': 'user alias',
  'U W': 'unclaimed purchase',
  K: 'handled message',
  D: 'webhook delivery',
  H: 'webhook URL',
  'S D': 'statistics of the day',
  'S M': 'statistics of the month',
  'S P': 'counted product',
  'Q D': 'product statistics of the day',
  'Q M': 'product statistics of the month',
  'E E': 'event',
  'E R': 'event, raw view',
  G: 'event tag',
};

/** Returns the printed name of an item: see lib/foundation/keys.ts. */
export function getItemKind({ pk, sk }: Key): string {
  if (pk.startsWith('APP#')) return 'app';
  if (pk.startsWith('_LIMIT#')) return 'rejection bucket';
  const [, kind = ''] = pk.split('#', 2);
  return kinds[`${kind} ${sk[0]}`] ?? kinds[kind] ?? pk;
}
