import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { Catalogue } from '../../lib/apps/catalogue.ts';
import { attachCredits } from '../../lib/purchases/prepare-update.ts';
import { readSnippet } from '../../testing/documents.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';

const page = 'docs/guides/credits.md';
const catalogue = v.parse(Catalogue, JSON.parse(readSnippet(page, 'catalogue')));

describe('docs/guides/credits.md', () => {
  it.each([
    ['store_a:coins_100', { coins: { perUnit: 100, expires: 'never' } }],
    ['store_b:premium', { coins: { perUnit: 500, expires: 'period' } }],
    ['store_b:sword', undefined],
  ])('states what a payment of %s gives', (productId, credits) => {
    const { purchase } = createObservation({ productId });
    const [payment] = attachCredits([createTransaction(purchase)], { stored: [], catalogue });
    expect(payment?.credits).toEqual(credits);
  });
});
