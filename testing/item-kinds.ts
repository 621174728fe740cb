import type { Key } from '../lib/foundation/keys.ts';

/**
 * Places of usernames and user aliases in a kind of item:
 * - `never`: in no key and no attribute.
 * - `ownPartition`: in its partition key. Erasing a customer deletes the partition.
 * - `byUser`: the item is in the index `byUser` with the username.
 * - `claims`: in the purchase item. A claim in `byUser` leads to it.
 * - `alias`: in its partition key, encoded. A purchase or the index `byUser` leads to it.
 * - `tag`: the event has the tag of the username, which leads to it.
 * - `digest`: as a digest with a secret key.
 */
type NamePlace = 'never' | 'ownPartition' | 'byUser' | 'claims' | 'alias' | 'tag' | 'digest';

interface ItemKindDescription {
  readonly matches: RegExp;
  readonly names: NamePlace;
}

/**
 * All kinds of items in the order of `keys.ts`, by the title there. `matches` tests the section of `pk`, a space
 * and `sk`.
 */
export const itemKinds: Readonly<Record<string, ItemKindDescription>> = {
  App: { matches: /^APP APP$/, names: 'never' },
  'Store settings (encrypted)': { matches: /^APP STORE#/, names: 'never' },
  Catalogue: { matches: /^I I$/, names: 'never' },
  'Announcement of its change': { matches: /^I N$/, names: 'never' },
  'Forwards of store notifications': { matches: /^I F$/, names: 'never' },
  'Announced problems': { matches: /^T A$/, names: 'never' },
  'Schedule of exports': { matches: /^W W$/, names: 'never' },
  'Keys of entitlement tokens': { matches: /^M M$/, names: 'never' },
  Purchase: { matches: /^P P$/, names: 'claims' },
  Claim: { matches: /^P C#/, names: 'byUser' },
  'Shared claim': { matches: /^P R#/, names: 'byUser' },
  'Lifecycle notification': { matches: /^P N#/, names: 'never' },
  Transaction: { matches: /^P T#/, names: 'never' },
  Customer: { matches: /^C C$/, names: 'ownPartition' },
  'Link to an owned purchase': { matches: /^C P#/, names: 'ownPartition' },
  'Rank of an owned purchase': { matches: /^C R#/, names: 'ownPartition' },
  'Grant of an entitlement': { matches: /^C G#/, names: 'ownPartition' },
  'Merge into the customer': { matches: /^C M#/, names: 'byUser' },
  'Claim that a merge has moved': { matches: /^C L#/, names: 'ownPartition' },
  'Consent to refund statements': { matches: /^C N$/, names: 'ownPartition' },
  'Link to an owned transaction': { matches: /^C T#/, names: 'ownPartition' },
  'User alias': { matches: /^U U$/, names: 'alias' },
  'Link to an unclaimed purchase': { matches: /^U W#/, names: 'alias' },
  'Webhook delivery': { matches: /^D D$/, names: 'byUser' },
  'Order of a forward': { matches: /^D L#/, names: 'never' },
  'Health of a webhook URL': { matches: /^H H$/, names: 'never' },
  'Activity of a store': { matches: /^Y [a-z]/, names: 'never' },
  'Sample of its responses': { matches: /^Y \d/, names: 'never' },
  'Handled store notification': { matches: /^K K$/, names: 'never' },
  'One of its purchases': { matches: /^K K#/, names: 'never' },
  'Recovered and enqueued': { matches: /^K Q$/, names: 'never' },
  'Refund request': { matches: /^R Z#/, names: 'never' },
  'Decision about the payment': { matches: /^R O$/, names: 'never' },
  Event: { matches: /^E E#/, names: 'tag' },
  'Raw view (compressed)': { matches: /^E R#/, names: 'tag' },
  'Event tag': { matches: /^G /, names: 'tag' },
  'Statistics of a day or month': { matches: /^S [DM]#/, names: 'never' },
  'Counted product': { matches: /^S P#/, names: 'never' },
  'Its statistics': { matches: /^Q [DM]#/, names: 'never' },
  'Figures of a day or month': { matches: /^Z [DM]#/, names: 'never' },
  'Checkpoint of a stream shard': { matches: /^B [SQZ]#/, names: 'never' },
  'Stream marker': { matches: /^F F$/, names: 'never' },
  'Idempotent run': { matches: /^O O$/, names: 'never' },
  'Result of a store adapter': { matches: /^O R$/, names: 'never' },
  'Access token (SHA-256)': { matches: /^A A$/, names: 'byUser' },
  'Vault reference': { matches: /^V R$/, names: 'never' },
  'Reference of a vault customer': { matches: /^V C$/, names: 'never' },
  'Erased name (keyed digest)': { matches: /^X X$/, names: 'digest' },
  'Price list of a processor': { matches: /^L L$/, names: 'never' },
  'Time of its last change': { matches: /^L X$/, names: 'never' },
  'Exchange rates of a day': { matches: /^FX /, names: 'never' },
  'Owner of an API key (SHA-256)': { matches: /^_KEY K$/, names: 'never' },
  'Token bucket of requests': { matches: /^_LIMIT B$/, names: 'never' },
};

/** Returns the titles of the kinds that an item with this key can have: exactly one, unless a kind is missing here. */
export function findItemKinds({ pk, sk }: Key): string[] {
  const [first = '', section = ''] = pk.split('#', 2);
  const isOfService = ['APP', 'FX', '_LIMIT', '_KEY'].includes(first);
  const text = `${isOfService ? first : section} ${sk}`;
  return Object.entries(itemKinds).flatMap(([title, { matches }]) => (matches.test(text) ? [title] : []));
}
