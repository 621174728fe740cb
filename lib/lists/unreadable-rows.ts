import { type Attempt, attemptItems, type FailedItem, requireAll } from '../foundation/failed-items.ts';
import { toKey } from '../foundation/key.ts';
import { customerKey, purchaseKey, transactionKey } from '../foundation/keys.ts';
import type { Item } from '../foundation/table.ts';

/**
 * Creates the attempts of a list at its rows. One that is not readable is logged, which an alarm counts, and `failed`
 * has its id: the list leaves it out, because a damaged item must not hide all others.
 */
export const attemptRows = (appName: string) => attemptItems({ app: appName, problem: 'RowUnreadable' });

/** Returns the member of a response that names the rows that the list leaves out, if there are any. */
export const toUnreadableIds = (failed: readonly FailedItem[]): { unreadableIds?: string[] } =>
  failed.length > 0 ? { unreadableIds: failed.map(({ item }) => item) } : {};

/** Returns the function that parses an item of a list. Without `attempt`, it throws for one that is not readable. */
export const toRowParser =
  <Row>(parseItem: (item: Item) => Row, attempt: Attempt = requireAll) =>
  async (item: Item): Promise<Row | undefined> =>
    await attempt(toRowId(item), async () => parseItem(item));

/** Parses the items of a page. */
export async function parseRows<Row>(
  items: readonly Item[],
  parseItem: (item: Item) => Row,
  attempt?: Attempt,
): Promise<Row[]> {
  const rows = await Promise.all(items.map(toRowParser(parseItem, attempt)));
  return rows.filter((row) => row !== undefined);
}

/** Returns the id of a purchase or a transaction, or the username of a customer. */
function toRowId(item: Item): string {
  const key = toKey(item);
  if (purchaseKey.matches(key)) return purchaseKey.parse(key).purchaseId;
  return transactionKey.matches(key) ? transactionKey.parse(key).transactionId : customerKey.parse(key).username;
}
