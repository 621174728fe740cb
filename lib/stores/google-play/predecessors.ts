import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { loadTokenPurchases, type StoredData, type TokenPurchases, toPurchaseId } from './known-purchases.ts';
import type { LineItem, Subscription } from './payloads.ts';

/** The purchases that the items of a subscription replace. */
export interface Predecessors {
  /** Id of the replaced purchase by product. */
  readonly replacedIds: ReadonlyMap<string, string>;
  /** A replaced purchase of the same buyer, for an item that replaces none. */
  readonly relatedId?: string;
}

interface PredecessorContext {
  readonly own: TokenPurchases;
  /** The purchases of the replaced token, if Google Play has it. */
  readonly replaced: readonly Observation[];
  readonly storedData: StoredData;
}

/**
 * Finds the purchases that the items replace: the item that Google Play names, the same product in the replaced
 * purchase, and for the only item of a subscription any product. A subscription that was resumed in the Play Store app
 * names the expired one until it is acknowledged.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#ItemReplacement
 */
export async function findPredecessors(
  subscription: Subscription,
  items: readonly LineItem[],
  context: PredecessorContext,
): Promise<Predecessors> {
  const { own } = context;
  const linkedToken = subscription.linkedPurchaseToken ?? subscription.outOfAppPurchaseContext?.expiredPurchaseToken;
  const ownIds = new Map([...listIds([...own.known.values()].map(({ purchase }) => purchase)), ...own.purchaseIds]);
  const linkedIds = linkedToken ? await findLinkedIds(linkedToken, items, context) : new Map<string, string>();
  const replacedIds = new Map<string, string>();
  for (const item of items) {
    const id = findReplacedId(item, { ownIds, linkedIds });
    if (id !== undefined) replacedIds.set(item.productId, id);
  }
  const [firstItem] = items;
  const linkedId = linkedToken && toPurchaseId(linkedToken);
  // Older purchases do not name the replaced item.
  if (linkedId && firstItem && items.length === 1 && replacedIds.size === 0)
    replacedIds.set(firstItem.productId, linkedId);
  return { replacedIds, ...omitUndefined({ relatedId: linkedId || undefined }) };
}

interface KnownIds {
  readonly ownIds: ReadonlyMap<string, string>;
  readonly linkedIds: ReadonlyMap<string, string>;
}

function findReplacedId({ productId, itemReplacement }: LineItem, { ownIds, linkedIds }: KnownIds): string | undefined {
  const replacedProductId = itemReplacement?.productId ?? productId;
  const isOtherProduct = replacedProductId !== productId;
  // A deferred change replaces an item of the same purchase, which can continue one of the linked purchase.
  return (isOtherProduct ? ownIds.get(replacedProductId) : undefined) ?? linkedIds.get(replacedProductId);
}

/** Returns the ids of the purchases of the replaced token by product, from Google Play or from the table. */
async function findLinkedIds(
  linkedToken: string,
  items: readonly LineItem[],
  { replaced, storedData }: PredecessorContext,
): Promise<ReadonlyMap<string, string>> {
  const observed = replaced.filter(({ refreshToken }) => refreshToken?.purchaseToken === linkedToken);
  if (observed.length > 0) return listIds(observed.map(({ purchase }) => purchase));
  const productIds = items.map(({ productId, itemReplacement }) => itemReplacement?.productId ?? productId);
  const { known } = await loadTokenPurchases(linkedToken, productIds, storedData);
  return listIds([...known.values()].map(({ purchase }) => purchase));
}

const listIds = (purchases: readonly Purchase[]): Map<string, string> =>
  new Map(purchases.map(({ productId, purchaseId }) => [withoutPlatform(productId), purchaseId]));
