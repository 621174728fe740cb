import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CancelationReason } from '../../../lib/api/schemas.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { isExpired } from '../../../lib/purchases/purchase.ts';
import { toPurchaseRecord, toValidatorPurchase } from '../../../lib/purchases/to-records.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const arbitraryDate = fc.integer({ min: -2, max: 2 }).map((days) => startDate + days * dayMs);
const arbitraryPurchase = fc
  .record(
    {
      productType: fc.constantFrom('paid subscription', 'non renewing subscription', 'consumable', 'non consumable'),
      expirationDate: arbitraryDate,
      endedAt: arbitraryDate,
      isPaused: fc.boolean(),
      cancelationReason: fc.constantFrom(...CancelationReason.options),
    },
    { requiredKeys: ['cancelationReason'] },
  )
  .map((state) => createObservation(state).purchase);

describe('records of a purchase', () => {
  it('contain a cancelationReason only if access has ended', () => {
    fc.assert(
      fc.property(arbitraryPurchase, arbitraryDate, (purchase, now) => {
        const expected = isExpired(purchase, now) ? purchase.cancelationReason : undefined;
        expect(toPurchaseRecord(purchase, now).cancelationReason).toBe(expected);
        expect(toValidatorPurchase(purchase, now).cancelationReason).toBe(expected);
      }),
    );
  });

  it.each([
    ['consumable', {}, undefined],
    ['non renewing subscription', {}, undefined],
    ['consumable', { endedAt: startDate }, true],
    ['non renewing subscription', { expirationDate: startDate + 2 * dayMs }, false],
    ['non consumable', {}, false],
    ['paid subscription', { expirationDate: startDate + 2 * dayMs }, false],
  ] as const)('lets a client buy a %s with %j again: isExpired is %s', (productType, state, isExpiredField) => {
    const { expirationDate: _end, ...purchase } = createObservation({ productType }).purchase;
    expect(toValidatorPurchase({ ...purchase, ...state }, startDate + dayMs).isExpired).toBe(isExpiredField);
  });
});
