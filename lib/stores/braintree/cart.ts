import { getSmallestUnit, toMicros } from './money.ts';
import type { CatalogueProduct } from './settings.ts';

/** Limits the work for a total. 2,000.00 in a currency with cents. */
const maxTotalUnits = 200_000;

/**
 * Whether an amount is the total of a cart with `product` and other products of the catalogue. cordova-plugin-purchase
 * sends the id of the first item and the total, but not the other items.
 *
 * @see https://github.com/j3k0/cordova-plugin-purchase/blob/master/src/ts/platforms/braintree/braintree-adapter.ts
 */
export function isCartTotal(
  totalMicros: number,
  product: CatalogueProduct,
  catalogue: readonly CatalogueProduct[],
): boolean {
  const unit = getSmallestUnit(product.currency);
  const toUnits = ({ amount }: CatalogueProduct) => toMicros(amount) / unit;
  const remaining = totalMicros / unit - toUnits(product);
  if (!isCartItem(product, product) || remaining < 0 || remaining > maxTotalUnits) return false;
  const prices = new Set(catalogue.filter((item) => isCartItem(item, product)).map(toUnits));
  return isSumOf(remaining, [...prices]);
}

/** Whether the product can be in one payment with `first`. A subscription is a payment of its own. */
const isCartItem = (
  { type, amount, currency, merchantAccountId }: CatalogueProduct,
  first: CatalogueProduct,
): boolean =>
  type !== 'paid subscription' &&
  amount !== 'any' &&
  currency === first.currency &&
  merchantAccountId === first.merchantAccountId;

/** Whether `total` is a sum of the prices, each any number of times. */
function isSumOf(total: number, prices: readonly number[]): boolean {
  const sums = new Uint8Array(total + 1);
  sums[0] = 1;
  for (const price of prices) {
    for (let sum = price; sum <= total; sum++) sums[sum] = (sums[sum] ?? 0) | (sums[sum - price] ?? 0);
  }
  return sums[total] === 1;
}
