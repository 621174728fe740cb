import { toDigest, toPrefixRange } from '../foundation/key.ts';
import { ownedPurchaseKey, ownedTransactionKey, rankKey } from '../foundation/keys.ts';
import type { EpochMillis } from '../foundation/time.ts';

/*
 * Keys of the links of a customer to purchases and transactions, and of the ranks of the purchases. A ranking has the
 * owned purchases of a product with one phase, which sort by end, purchase date and purchase id. Sandbox purchases have
 * their own rankings, because an app can ignore them: see `sandboxEntitlements`.
 */

/** What orders the purchases of a customer. */
interface RankedPurchase {
  readonly purchaseId: string;
  readonly productId: string;
  readonly isSubscription: boolean;
  readonly sandbox: boolean;
  readonly purchaseDate?: EpochMillis;
}

const [subscriptionKind, otherKind] = ['S', 'O'];
export const rankSortKey = (
  { purchaseId, productId, isSubscription, sandbox, purchaseDate = 0 }: RankedPurchase,
  { phase, end }: { readonly phase: string; readonly end: EpochMillis },
): string => {
  const product = `${isSubscription ? subscriptionKind : otherKind}${toDigest(productId)}`;
  return rankKey.sortKey(product, `${phase}${sandbox ? '-sandbox' : ''}`, end, purchaseDate, purchaseId);
};

/** Returns bounds that enclose the ranking of a rank. The first one is before its first rank. */
export const toRankingRange = (rankSk: string): [string, string] => {
  const { product, phase } = rankKey.parseSortKey(rankSk);
  return rankKey.range(product, phase);
};

/** First characters of digests that divide them into eight ranges of the same size, in the order of keys. */
const digestStarts = ['-', '7', 'F', 'N', 'V', 'c', 'k', 's', '{'] as const;

/** Returns bounds that divide the ranks of a customer. A ranking is in one of them. */
export const listRankRanges = (products: 'all' | 'subscriptions'): [string, string][] =>
  (products === 'all' ? [subscriptionKind, otherKind] : [subscriptionKind]).flatMap((kind) =>
    digestStarts
      .slice(1)
      .map((until, index): [string, string] => [
        `${rankKey.sortKey()}${kind}${digestStarts[index]}`,
        `${rankKey.sortKey()}${kind}${until}`,
      ]),
  );

export const ownedTransactionSortKey = (transactionId: string, purchaseId: string, purchaseDate: EpochMillis): string =>
  ownedTransactionKey.sortKey(purchaseDate, toDigest(JSON.stringify([transactionId, purchaseId])));

/** Bounds that enclose every link to an owned purchase with a date. */
export const datedPurchaseRange = [`${ownedPurchaseKey.sortKey()}0`, `${ownedPurchaseKey.sortKey()}:`] as const;

/** Bounds that enclose the links to purchases, their ranks and the links to transactions of a customer. */
export const ownedLinkRange: readonly [string, string] = [
  ownedPurchaseKey.sortKey(),
  toPrefixRange(ownedTransactionKey.sortKey())[1],
];

/** Links to owned purchases and transactions, and ranks of purchases. */
export const isPurchaseLink = (sk: string): boolean =>
  [ownedPurchaseKey, rankKey, ownedTransactionKey].some((type) => sk.startsWith(type.sortKey()));

/** Returns the id of the purchase that a link to an owned purchase, or its rank, names. */
export function parseOwnedPurchaseId(sk: string): string {
  if (sk.startsWith(rankKey.sortKey())) return rankKey.parseSortKey(sk).purchaseId;
  // Earlier releases wrote links without a date.
  const link = /^P#(?:\d{13}#)?/.exec(sk);
  return sk.slice(link?.[0].length);
}
