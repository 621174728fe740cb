import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as v from 'valibot';
import { AppName } from '../../../lib/apps/app.ts';
import { timestampRange, toSortableTimestamp } from '../../../lib/foundation/key.ts';
import { tokenBucketKey } from '../../../lib/foundation/keys.ts';
import { parseItemKey } from '../../../lib/foundation/stream-record.ts';
import { listRankRanges, rankSortKey, toRankingRange } from '../../../lib/purchases/owned-purchase-links.ts';
import { createObservation } from '../../../testing/given.ts';

/** Dates from the year -271821 to 275760, many of them near the bounds of 13 digits. */
const anyDate = fc.oneof(
  fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: 9_999_999_999_990, max: 10_000_000_000_009 }),
);

describe('toSortableTimestamp', () => {
  it('returns 13 digits that sort by time', () => {
    fc.assert(
      fc.property(anyDate, anyDate, (a, b) => {
        for (const date of [a, b]) expect(toSortableTimestamp(date)).toMatch(/^\d{13}$/);
        const [earlier, later] = a < b ? [a, b] : [b, a];
        expect(toSortableTimestamp(earlier) <= toSortableTimestamp(later)).toBe(true);
      }),
    );
  });

  it('returns the number itself if it has at most 13 digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999_999_999_999 }), (date) => {
        expect(Number(toSortableTimestamp(date))).toBe(date);
      }),
    );
  });
});

describe('timestampRange', () => {
  it('returns bounds in the order that a query requires', () => {
    const optionalDate = fc.option(anyDate, { nil: undefined });
    fc.assert(
      fc.property(optionalDate, optionalDate, (startdate, enddate) => {
        fc.pre(startdate === undefined || enddate === undefined || startdate < enddate);
        const [from, until] = timestampRange({ startdate, enddate });
        expect(from <= until).toBe(true);
      }),
    );
  });
});

describe('parseItemKey', () => {
  it.each([
    ['purchase', 'a#P#store_a:1', 'P'],
    ['claim', 'a#P#store_a:1', 'C#ann'],
    ['notification', 'a#P#store_a:1', 'N#1700000000000#id'],
    ['transaction', 'a#P#store_a:1', 'T#store_a:2'],
    ['customer', 'a#C#ann', 'C'],
    ['other', 'a#C#ann', 'P#store_a:1'],
    ['event', 'a#E#3', 'E#1000000000000#id'],
    ['other', 'a#E#3', 'R#1000000000000#id'],
    ['streamMarker', 'a#F#id', 'F'],
    ['other', 'a#U#P', 'U'],
  ])('returns the kind %s for %s and %s', (kind, pk, sk) => {
    expect(parseItemKey({ pk, sk })).toEqual({ appName: 'a', kind });
  });
});

describe('tokenBucketKey', () => {
  it('belongs to no app, and stream workers ignore the item', () => {
    const key = tokenBucketKey('app', 'demo');
    expect(v.is(AppName, key.pk.split('#')[0])).toBe(false);
    expect(parseItemKey(key).kind).toBe('other');
  });
});

describe('listRankRanges', () => {
  const createRanks = (productType: 'paid subscription' | 'consumable') =>
    Array.from({ length: 1_000 }, (_, number) => {
      const { purchase } = createObservation({ productId: `store_a:product-${number}`, productType });
      const isSubscription = productType === 'paid subscription';
      return rankSortKey({ ...purchase, isSubscription }, { phase: 'live', end: number });
    });
  const isWithin = ([from, until]: readonly [string, string], sk: string): boolean => from <= sk && sk <= until;

  it('assigns each ranking to one range, and subscriptions to ranges without other products', () => {
    const subscriptions = createRanks('paid subscription');
    const others = createRanks('consumable');
    // Every character that a digest can begin with.
    expect(new Set(subscriptions.map((sk) => sk.slice('R#S'.length)[0])).size).toBe(64);
    const count = (products: 'all' | 'subscriptions', sk: string) =>
      listRankRanges(products).filter(
        (range) =>
          isWithin(range, sk) && isWithin(range, toRankingRange(sk)[0]) && isWithin(range, toRankingRange(sk)[1]),
      ).length;
    expect(new Set([...subscriptions, ...others].map((sk) => count('all', sk)))).toEqual(new Set([1]));
    expect(new Set(subscriptions.map((sk) => count('subscriptions', sk)))).toEqual(new Set([1]));
    expect(new Set(others.map((sk) => count('subscriptions', sk)))).toEqual(new Set([0]));
  });
});
