import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resolveCart } from '../../../../lib/stores/braintree/cart.ts';
import type { CatalogueProduct } from '../../../../lib/stores/braintree/settings.ts';

const microsPerCent = 10_000;
const toProduct = (cents: number, changes: Partial<CatalogueProduct> = {}): CatalogueProduct => ({
  type: 'consumable',
  amount: (cents / 100).toFixed(2),
  currency: 'USD',
  ...changes,
});
const kept = (cents: number): CatalogueProduct => toProduct(cents, { type: 'non consumable' });
type Catalogue = Readonly<Record<string, CatalogueProduct>>;
const getCents = ({ amount }: CatalogueProduct): number => Math.round(Number(amount) * 100);

/** Lists the carts with `first` that have a total, by brute force: quantities by product id. */
function listCarts(cents: number, first: string, catalogue: Catalogue): Record<string, number>[] {
  const extend = (rest: number, ids: readonly string[]): Record<string, number>[] => {
    const [id, ...others] = ids;
    if (rest < 0) return [];
    if (id === undefined) return rest === 0 ? [{}] : [];
    const product = catalogue[id] as CatalogueProduct;
    const max = product.type === 'consumable' ? Math.floor(rest / getCents(product)) : id === first ? 0 : 1;
    return Array.from({ length: max + 1 }, (_, count) =>
      extend(rest - count * getCents(product), others).map((cart) => ({ ...cart, [id]: (cart[id] ?? 0) + count })),
    ).flat();
  };
  return extend(cents - getCents(catalogue[first] as CatalogueProduct), Object.keys(catalogue)).map((cart) => ({
    ...cart,
    [first]: (cart[first] ?? 0) + 1,
  }));
}

const arbitraryCatalogue = fc
  .array(fc.record({ cents: fc.integer({ min: 20, max: 400 }), isKept: fc.boolean() }), { minLength: 1, maxLength: 4 })
  .map(
    (products): Catalogue =>
      Object.fromEntries(
        products.map(({ cents, isKept }, index) => [`p${index}`, isKept ? kept(cents) : toProduct(cents)]),
      ),
  );

describe('resolveCart', () => {
  it('returns the items only if no other cart has the total, and never guesses a product that is kept', () => {
    fc.assert(
      fc.property(arbitraryCatalogue, fc.integer({ min: 1, max: 900 }), (catalogue, cents) => {
        const carts = listCarts(cents, 'p0', catalogue);
        const isConsumable = (id: string): boolean => catalogue[id]?.type === 'consumable';
        const [cart = {}] = carts;
        const items = Object.entries(cart).filter(([, quantity]) => quantity > 0);
        const isUncertain = carts.some((other) =>
          Object.entries(other).some(([id, quantity]) => id !== 'p0' && quantity > 0 && !isConsumable(id)),
        );
        const resolved = resolveCart(cents * microsPerCent, 'p0', catalogue);
        if (carts.length === 1) {
          expect(Object.fromEntries(resolved?.map((item) => [item.productId, item.quantity]) ?? [])).toEqual(
            Object.fromEntries(items),
          );
          expect(resolved?.reduce((sum, item) => sum + item.amountMicros, 0)).toBe(cents * microsPerCent);
          expect(resolved?.[0]?.productId).toBe('p0');
        } else expect(resolved).toEqual(carts.length === 0 || isUncertain ? undefined : []);
      }),
    );
  });

  it.each([
    [
      'a kept product after a consumable',
      2498,
      [
        ['tip', 1],
        ['full', 1],
      ],
    ],
    ['a consumable twice', 998, [['tip', 2]]],
    ['an amount of no cart', 1000, undefined],
  ])('resolves %s', (_title, cents, expected) => {
    const items = resolveCart(cents * microsPerCent, 'tip', { tip: toProduct(499), full: kept(1999) });
    expect(items?.map(({ productId, quantity }) => [productId, quantity])).toEqual(expected);
  });

  it.each<[string, CatalogueProduct]>([
    ['in another currency', toProduct(1, { currency: 'EUR' })],
    ['of another merchant account', toProduct(1, { merchantAccountId: 'other' })],
    ['that is a subscription', toProduct(1, { type: 'paid subscription', planId: 'plan' })],
    ['with an amount of the buyer', toProduct(1, { amount: 'any', minimum: '0.01', maximum: '9.00' })],
  ])('does not count a product %s', (_case, other) => {
    expect(resolveCart(5_000_000, 'tip', { tip: toProduct(499), other })).toBeUndefined();
  });

  it('rejects totals above its limit', () => {
    const catalogue = { tip: toProduct(100), mug: kept(1999) };
    expect(resolveCart(2_000_000_000, 'tip', catalogue)).toMatchObject([{ quantity: 2_000 }]);
    expect(resolveCart(3_000_000_000, 'tip', catalogue)).toBeUndefined();
  });

  it('counts in the common divisor of its prices, so that it resolves totals in currencies of small units', () => {
    const catalogue = { tip: toProduct(49_900, { currency: 'HUF' }), full: kept(999_000) };
    const [tip, full] = [catalogue.tip, { ...catalogue.full, currency: 'HUF' }];
    const items = resolveCart(10_489_000_000, 'tip', { tip, full });
    expect(items?.map(({ productId }) => productId)).toEqual(['tip', 'full']);
  });
});
