import { describe, expect, it } from '@jest/globals';
import { groupByReplacement } from '../../../lib/purchases/group-by-replacement.ts';
import { createObservation } from '../../../testing/given.ts';

const observe = (purchaseId: string, replacedPurchaseId?: string) =>
  createObservation({ purchaseId }, replacedPurchaseId === undefined ? {} : { replacedPurchaseId });
const toIds = (...observations: ReturnType<typeof observe>[]) =>
  groupByReplacement(observations).map((group) => group.map(({ purchase }) => purchase.purchaseId));

describe('groupByReplacement', () => {
  it('puts each replaced purchase before its successor', () => {
    expect(toIds(observe('c', 'b'), observe('b', 'a'), observe('other'), observe('a'))).toEqual([
      ['other', 'a'],
      ['b'],
      ['c'],
    ]);
  });

  it('keeps the order of purchases that replace none of the others, or each other', () => {
    expect(toIds()).toEqual([[]]);
    expect(toIds(observe('b', 'stored'), observe('a'))).toEqual([['b', 'a']]);
    expect(toIds(observe('b', 'a'), observe('a', 'b'))).toEqual([['b', 'a']]);
  });
});
