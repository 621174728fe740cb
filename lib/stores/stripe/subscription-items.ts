import { sum } from '../../foundation/collections.ts';
import { getPriceProductId } from './mapping-context.ts';
import type { Invoice, Subscription } from './payloads.ts';

type CurrentItem = Subscription['items']['data'][number];
export type Line = Invoice['lines']['data'][number];

/** An item of a subscription, or the items that replaced each other. Each has its own purchase. */
export interface BilledItem {
  /** Id of the purchase without platform prefix: the id of the subscription for the main item. */
  readonly purchaseId: string;
  readonly itemIds: readonly string[];
  /** The latest item. Undefined if it was removed. */
  readonly current: CurrentItem | undefined;
  /** Start of the time that was credited for the removed item, in epoch seconds. */
  readonly removedAt: number | undefined;
}

interface ItemHistory {
  readonly id: string;
  readonly current: CurrentItem | undefined;
  readonly lines: readonly Line[];
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly removedAt: number | undefined;
}

export const getPriceId = ({ pricing }: Line): string => pricing?.price_details?.price ?? '';

/** Returns the id of the subscription item that a line bills. Undefined for a separate invoice item. */
export const getItemId = ({ parent }: Line): string | undefined =>
  parent?.subscription_item_details?.subscription_item ?? undefined;

/** The subscription has, or its invoices name, more than one item. */
export const hasSeveralItems = (subscription: Subscription, invoices: readonly Invoice[]): boolean =>
  listHistories(subscription, invoices).length > 1;

/**
 * Lists the items of a subscription and those that were removed, the main item first. An item keeps its purchase when
 * its price changes, in any order of the response. `mainProductId` is the product of the stored main purchase.
 *
 * @see https://docs.stripe.com/billing/subscriptions/multiple-products
 */
export function listBilledItems(
  subscription: Subscription,
  invoices: readonly Invoice[],
  mainProductId?: string,
): BilledItem[] {
  const histories = listHistories(subscription, invoices);
  const main = findMainItems(histories, mainProductId);
  const others = histories.filter((history) => !main.includes(history));
  return [
    toBilledItem(subscription.id, main),
    ...others.map((history) => toBilledItem(`${subscription.id}:${history.id}`, [history])),
  ];
}

/** Lists the items, the oldest first. Items of the same second keep the order of the response. */
function listHistories({ items }: Subscription, invoices: readonly Invoice[]): ItemHistory[] {
  const lines = invoices.flatMap((invoice) => invoice.lines.data);
  const currentIds = items.data.map(({ id }) => id);
  const removedIds = lines.map(getItemId).filter((id) => id !== undefined && !currentIds.includes(id)) as string[];
  return [...currentIds, ...new Set(removedIds)]
    .map((id) => {
      const current = items.data.find((item) => item.id === id);
      const ownLines = lines.filter((line) => getItemId(line) === id);
      const starts = ownLines.map(({ period }) => period.start);
      const createdAt = current?.created ?? Math.min(...starts);
      return { id, current, lines: ownLines, createdAt, removedAt: current ? undefined : findRemoval(ownLines) };
    })
    .sort((a, b) => a.createdAt - b.createdAt);
}

/**
 * Finds the removal of an item: the start of its last lines if they are credits. A removal in the second in which the
 * period started credits all of it.
 */
function findRemoval(lines: readonly Line[]): number | undefined {
  const start = Math.max(...lines.map(({ period }) => period.start));
  const last = lines.filter(({ period }) => period.start === start);
  const isCredited = last.some(isCredit) && sum(last.map(({ amount }) => amount)) === 0;
  return last.every(isCredit) || isCredited ? start : undefined;
}

export const isCredit = ({ amount }: Line): boolean => amount < 0;

/**
 * Finds the main item and the items that replaced it: the oldest item, unless the product of the stored purchase
 * identifies another one.
 */
function findMainItems(histories: readonly ItemHistory[], mainProductId: string | undefined): ItemHistory[] {
  const oldest = followReplacements(histories[0], histories);
  const isStored = (history: ItemHistory): boolean => listProductIds(history).includes(mainProductId ?? '');
  if (mainProductId === undefined || oldest.some(isStored)) return oldest;
  const stored = histories.filter(isStored);
  return stored.length === 1 ? followReplacements(stored[0], histories) : oldest;
}

const listProductIds = ({ current, lines }: ItemHistory): string[] => [
  ...(current ? [getPriceProductId(current.price)] : []),
  ...lines.flatMap(({ pricing }) => pricing?.price_details?.product ?? []),
];

function followReplacements(first: ItemHistory | undefined, histories: readonly ItemHistory[]): ItemHistory[] {
  const chain = first ? [first] : [];
  for (let last = first; last && !last.current; ) {
    const next = findReplacement(last, histories);
    if (!next || chain.includes(next)) break;
    chain.push(next);
    last = next;
  }
  return chain;
}

/**
 * Finds the item that replaced a removed item: a change of plan can remove an item and add another one at the same
 * time. Without a credit, the time of the removal is unknown, and only a subscription without older items was changed.
 */
function findReplacement(removed: ItemHistory, histories: readonly ItemHistory[]): ItemHistory | undefined {
  const { removedAt } = removed;
  const later = histories.filter((history) => history !== removed && history.createdAt > removed.createdAt);
  if (removedAt !== undefined) return later.find(({ createdAt }) => createdAt === removedAt);
  const lastStart = Math.max(...removed.lines.map(({ period }) => period.start));
  const isSucceeded = histories.every(({ current, createdAt }) => !current || createdAt > lastStart);
  return isSucceeded ? later.find(({ createdAt }) => createdAt > lastStart) : undefined;
}

function toBilledItem(purchaseId: string, histories: readonly ItemHistory[]): BilledItem {
  const last = histories.at(-1);
  return {
    purchaseId,
    itemIds: histories.map(({ id }) => id),
    current: last?.current,
    removedAt: last?.removedAt,
  };
}
