import * as v from 'valibot';
import { toMicros } from './money.ts';
import type { BraintreeSettings, CatalogueProduct } from './settings.ts';

type Catalogue = BraintreeSettings['catalogue'];

/** A product of a cart. */
export const CartItem = v.object({
  productId: v.string(),
  quantity: v.number(),
  /** Total for the quantity. */
  amountMicros: v.number(),
});
export type CartItem = v.InferOutput<typeof CartItem>;

const findCommonDivisor = (a: number, b: number): number => (b === 0 ? a : findCommonDivisor(b, a % b));

/** Limits the work for a total. 2,000.00 for prices in cents. */
const maxTotalUnits = 200_000;

/** A product that can be in the cart, with its price in units: the common divisor of all prices and the total. */
interface Candidate {
  readonly productId: string;
  readonly price: number;
}

/**
 * Resolves the cart with `productId` and other products of the catalogue that has this total.
 * cordova-plugin-purchase sends the id of the first item and the total, but not the other items.
 *
 * Returns the items if only one cart has the total, the product first. Returns an empty array if several carts of
 * consumables have it: the app credits them. Returns undefined if no cart has it, or if it is not certain which product
 * was bought that the customer keeps.
 *
 * @see https://github.com/j3k0/cordova-plugin-purchase/blob/master/src/ts/platforms/braintree/braintree-adapter.ts
 */
export function resolveCart(totalMicros: number, productId: string, catalogue: Catalogue): CartItem[] | undefined {
  const product = catalogue[productId];
  if (!product || !isCartItem(product, product)) return undefined;
  const others = Object.entries(catalogue).filter(
    ([id, item]) => isCartItem(item, product) && (isConsumable(item) || id !== productId),
  );
  const amounts = [product, ...others.map(([, item]) => item)].map(({ amount }) => toMicros(amount));
  const unit = amounts.reduce(findCommonDivisor, totalMicros);
  const toUnits = ({ amount }: CatalogueProduct) => toMicros(amount) / unit;
  const remaining = totalMicros / unit - toUnits(product);
  if (remaining < 0 || remaining > maxTotalUnits) return undefined;
  const candidates = others.map(([id, item]) => ({ productId: id, price: toUnits(item), isKept: !isConsumable(item) }));
  const counts = countCarts(
    remaining,
    candidates.filter(({ isKept }) => !isKept),
    candidates.filter(({ isKept }) => isKept),
  );
  if (counts.total === 0 || (counts.total > 1 && counts.hasKept)) return undefined;
  if (counts.total > 1) return [];
  const ids = [productId, ...counts.findItems()];
  return [...new Set(ids)].map((id) => {
    const quantity = ids.filter((other) => other === id).length;
    return { productId: id, quantity, amountMicros: toMicros(catalogue[id]?.amount ?? '0') * quantity };
  });
}

const isConsumable = ({ type }: CatalogueProduct): boolean => type === 'consumable';

/** The product can be in one payment with `first`. A subscription is its own payment. */
const isCartItem = (
  { type, amount, currency, merchantAccountId }: CatalogueProduct,
  first: CatalogueProduct,
): boolean =>
  type !== 'paid subscription' &&
  amount !== 'any' &&
  currency === first.currency &&
  merchantAccountId === first.merchantAccountId;

/** Carts with a total; 2 stands for several. */
interface CartCount {
  readonly total: number;
  /** A cart with the total has a product that the customer keeps. */
  readonly hasKept: boolean;
  /** Returns the ids of the items of the only cart, one for each unit. */
  readonly findItems: () => string[];
}

/** Counts the carts of consumables in any quantity, and of kept products once each. */
function countCarts(total: number, consumables: readonly Candidate[], kept: readonly Candidate[]): CartCount {
  const byConsumables = countSums(total, consumables);
  /** Carts with at least one kept product. Each layer adds a kept product. */
  const layers = [new Uint8Array(total + 1)];
  for (const { price } of kept) layers.push(addKeptProduct(layers.at(-1) as Uint8Array, byConsumables, price));
  const withKept = layers.at(-1)?.[total] ?? 0;
  return {
    total: Math.min(2, withKept + (byConsumables[total] ?? 0)),
    hasKept: withKept > 0,
    findItems: () => {
      const items: string[] = [];
      let rest = total;
      for (let layer = kept.length; layer > 0 && (layers[layer]?.[rest] ?? 0) > 0; layer--) {
        const candidate = kept[layer - 1];
        if (!candidate || (layers[layer - 1]?.[rest] ?? 0) > 0) continue;
        items.push(candidate.productId);
        rest -= candidate.price;
      }
      return [...items, ...listSummands(rest, consumables, byConsumables)];
    },
  };
}

/** Counts the sums of the prices, each any number of times, up to a total. */
function countSums(total: number, candidates: readonly Candidate[]): Uint8Array {
  const counts = new Uint8Array(total + 1);
  counts[0] = 1;
  for (const { price } of candidates) {
    for (let sum = price; sum <= total; sum++)
      counts[sum] = Math.min(2, (counts[sum] ?? 0) + (counts[sum - price] ?? 0));
  }
  return counts;
}

function addKeptProduct(
  before: Readonly<Uint8Array>,
  byConsumables: Readonly<Uint8Array>,
  price: number,
): Uint8Array<ArrayBuffer> {
  const counts = Uint8Array.from(before);
  for (let sum = price; sum < counts.length; sum++) {
    const rest = sum - price;
    counts[sum] = Math.min(2, (before[sum] ?? 0) + (before[rest] ?? 0) + (byConsumables[rest] ?? 0));
  }
  return counts;
}

/** Lists the products of the only sum of a total. */
function listSummands(total: number, candidates: readonly Candidate[], counts: Uint8Array): string[] {
  const next = candidates.find(({ price }) => price <= total && (counts[total - price] ?? 0) > 0);
  return total === 0 || !next ? [] : [next.productId, ...listSummands(total - next.price, candidates, counts)];
}
