import { describe, expect, it } from '@jest/globals';
import { Catalogue, findCatalogueProduct } from '../../../lib/apps/catalogue.ts';
import { parse } from '../../../lib/foundation/parse.ts';

describe('findCatalogueProduct', () => {
  const catalogue = parse(Catalogue, {
    gold: { type: 'paid subscription' },
    'store_b:gold': { type: 'non renewing subscription', billingPeriod: 'P1Y' },
  });

  it('prefers the product of the store to the product of all stores', () => {
    expect(findCatalogueProduct(catalogue, 'store_b:gold')).toMatchObject({ type: 'non renewing subscription' });
    expect(findCatalogueProduct(catalogue, 'store_a:gold')).toMatchObject({ type: 'paid subscription' });
  });

  it('returns undefined for an unknown product', () => {
    for (const productId of ['store_a:silver', 'store_a:toString', 'store_a:__proto__']) {
      expect(findCatalogueProduct(catalogue, productId)).toBeUndefined();
    }
    expect(findCatalogueProduct(undefined, 'store_a:gold')).toBeUndefined();
  });
});

describe('Catalogue', () => {
  it.each<[string, object, RegExp]>([
    ['an unknown type', { type: 'toy' }, /gold\.type: expected/],
    ['an invalid period', { type: 'paid subscription', billingPeriod: 'P0M' }, /ISO 8601 duration/],
    ['a period of more than 1000 units', { type: 'paid subscription', billingPeriod: 'P9999Y' }, /at most 1000 units/],
    ['a period of a consumable', { type: 'consumable', billingPeriod: 'P1M' }, /for subscriptions only/],
    ['an unknown field', { type: 'consumable', price: 1 }, /gold\.price: expected/],
  ])('rejects %s', (_what, product, message) => {
    expect(() => parse(Catalogue, { gold: product })).toThrow(message);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'names the product %s, which is a name of every object, in its rejection',
    (name) => {
      const products = JSON.parse(`{"gold": {"type": "consumable"}, "${name}": {"type": "consumable"}}`);
      expect(() => parse(Catalogue, products)).toThrow(`${name}: expected another name`);
    },
  );

  it('rejects a catalogue that does not fit into an item', () => {
    const products = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, index) => [`product-${index}-${'x'.repeat(60)}`, { type: 'consumable' }]),
    );
    expect(() => parse(Catalogue, products)).toThrow('a catalogue of at most 300 KB');
  });
});
