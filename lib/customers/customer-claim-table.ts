import { type Key, toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import type { Table } from '../foundation/table.ts';
import { Claim } from '../purchases/claims.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { parsePurchaseItem } from '../purchases/purchase-item.ts';

/** A claim of a customer with the claimed purchase. */
interface CustomerClaim {
  readonly claim: Claim;
  readonly purchase: Purchase;
  readonly isEntitled: boolean;
}

interface ClaimQuery {
  /** Selects claims on purchases that the customer owns or does not own. */
  readonly isEntitled?: boolean | undefined;
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
}

interface ClaimEntry {
  readonly sortKey: string;
  readonly claimKey: Key;
}

/**
 * Maximum number of claims that a page reads, each with its purchase: most customers own every purchase that they
 * claim.
 */
const maxScanned = 1_000;

/** Lists claims by the date of the first claim, newest first. Eventually consistent. */
export async function listCustomerClaims(
  { table }: Service,
  appName: string,
  username: string,
  { isEntitled, limit, cursor }: ClaimQuery,
): Promise<CursorPage<CustomerClaim>> {
  const partition = keys.namingKeys.partition(appName, username);
  const list = {
    readBefore: async (position: string | undefined, count: number) =>
      await readEntries(table, { partition, position, limit: count }),
    load: async (entries: readonly ClaimEntry[]) => {
      const claims = await loadClaims(table, username, entries);
      return claims.map((claim) => (isEntitled === undefined || claim?.isEntitled === isEntitled ? claim : undefined));
    },
  };
  return await readCursorPage<ClaimEntry, CustomerClaim>(list, { limit, cursor, maxScanned });
}

interface EntryRange {
  readonly partition: string;
  /** `<date>#<digest>`, excluded. */
  readonly position: string | undefined;
  readonly limit: number;
}

async function readEntries(table: Table, { partition, position, limit }: EntryRange): Promise<ClaimEntry[]> {
  const [prefix, end] = keys.namingRange('claim');
  const until = position === undefined ? end : `${prefix}${position}`;
  const range = { partition, index: 'byUser', between: [prefix, until], newestFirst: true } as const;
  const items = await table.query({ ...range, limit: limit + 1 });
  return items
    .filter(({ userSk }) => userSk !== until)
    .slice(0, limit)
    .map((item) => ({ sortKey: String(item.userSk).slice(prefix.length), claimKey: toKey(item) }));
}

/** Loads the claims and their purchases. Undefined for a claim that was deleted, or whose purchase does not exist. */
async function loadClaims(
  table: Table,
  username: string,
  entries: readonly ClaimEntry[],
): Promise<(CustomerClaim | undefined)[]> {
  const pairs = entries.map(({ claimKey }) => [claimKey, { pk: claimKey.pk, sk: keys.purchaseKey.sortKey() }] as const);
  const items = await table.batchGet(pairs.flat(), { isEventuallyConsistent: true });
  const toText = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
  const itemsByKey = new Map(items.map((item) => [toText(toKey(item)), item]));
  return pairs.map((pair) => {
    const [claim, stored] = pair.map((key) => itemsByKey.get(toText(key)));
    if (!claim || !stored) return undefined;
    const { purchase, entitledUsers } = parsePurchaseItem(stored);
    return { claim: parse(Claim, claim, 'DatabaseError'), purchase, isEntitled: entitledUsers.includes(username) };
  });
}
