import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

type IntentFields = Pick<Purchase, 'renewalIntent' | 'renewalIntentChangeDate'>;

/** Creates the observation of a renewal intent at a second. */
const observe = (fields: IntentFields, second: number) => {
  const { purchase, ...observation } = createObservation();
  const { renewalIntent: _, renewalIntentChangeDate: _date, ...common } = purchase;
  return { ...observation, asOf: startDate + second * 1_000, purchase: { ...common, ...fields } };
};

const mergeAll = (observations: readonly ReturnType<typeof observe>[]): PurchaseState | undefined =>
  observations.reduce<PurchaseState | undefined>((state, observation) => merge(state, observation), undefined);

const findChangeDate = (...intents: readonly IntentFields[]): number | undefined =>
  mergeAll(intents.map(observe))?.purchase.renewalIntentChangeDate;

describe('merge: renewalIntentChangeDate', () => {
  it.each<[string, readonly IntentFields[], number | undefined]>([
    ['a cancelation', [{ renewalIntent: 'Renew' }, { renewalIntent: 'Lapse', renewalIntentChangeDate: 10 }], 10],
    [
      'a reverted cancelation without a date',
      [{ renewalIntent: 'Lapse', renewalIntentChangeDate: 10 }, { renewalIntent: 'Renew' }],
      undefined,
    ],
    [
      'a reverted cancelation whose date an earlier observation has',
      [
        { renewalIntent: 'Lapse', renewalIntentChangeDate: 10 },
        { renewalIntent: 'Renew', renewalIntentChangeDate: 20 },
        { renewalIntent: 'Renew' },
      ],
      20,
    ],
    [
      'a second cancelation after a reverted one',
      [
        { renewalIntent: 'Lapse', renewalIntentChangeDate: 10 },
        { renewalIntent: 'Renew', renewalIntentChangeDate: 20 },
        { renewalIntent: 'Lapse', renewalIntentChangeDate: 30 },
        { renewalIntent: 'Renew' },
      ],
      undefined,
    ],
  ])('returns the date of the current intent after %s', (_title, intents, expected) => {
    expect(findChangeDate(...intents)).toBe(expected);
  });

  it('does not depend on the order of the observations', () => {
    const intent = fc.record(
      {
        renewalIntent: fc.constantFrom('Lapse' as const, 'Renew' as const),
        renewalIntentChangeDate: fc.integer({ min: 1, max: 9 }),
      },
      { requiredKeys: ['renewalIntent'] },
    );
    const looks = fc.array(fc.tuple(intent, fc.nat(6)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(looks, fc.infiniteStream(fc.nat()), (intents, ranks) => {
        const observations = intents.map(([fields, second]) => observe(fields, second));
        const keyed = observations.map((observation) => ({ observation, rank: Number(ranks.next().value) }));
        const shuffled = keyed.sort((a, b) => a.rank - b.rank).map(({ observation }) => observation);
        expect(mergeAll([...shuffled, ...observations])).toEqual(mergeAll(observations));
      }),
    );
  });
});
