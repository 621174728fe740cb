import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareResults } from '../../../cli/compare/compare-results.ts';
import { toValidationBody } from '../../../cli/compare/to-validation-body.ts';
import { fromCustomerPurchases, fromValidationResponse } from '../../../cli/compare/validator-result.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const expiryDate = now + dayMs;
const purchase = { id: 'monthly', purchaseId: '1', expiryDate, isExpired: false };
const fromCollection = (...collection: readonly object[]) =>
  fromValidationResponse({ ok: true, data: { id: 'monthly', collection } } as never, now);
const compare = (here: ReturnType<typeof fromCollection>, there: ReturnType<typeof fromCollection>) =>
  compareResults(here, there, { toleranceMs: minuteMs });

describe('compareResults', () => {
  it('returns no difference for the same purchases in any order and vocabulary', () => {
    const property = fc.property(
      fc
        .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })
        .chain((ids) => fc.tuple(fc.constant(ids), fc.shuffledSubarray(ids, { minLength: ids.length }))),
      ([ids, shuffled]) => {
        const here = fromCollection(...ids.map((id) => ({ ...purchase, id, purchaseId: id })));
        const there = fromCollection(
          ...shuffled.map((id) => ({
            ...purchase,
            id: `apple:${id}`,
            purchaseId: `apple:${id}`,
            cancelationReason: '',
          })),
        );
        expect(compare(here, there)).toEqual([]);
      },
    );
    fc.assert(property);
  });

  it.each([
    ['owned', { isExpired: true }, 'true', 'false'],
    ['expiryDate', { expiryDate: expiryDate + 2 * minuteMs }, '2026-01-02T00:00:00.000Z', '2026-01-02T00:02:00.000Z'],
    ['cancelationReason', { cancelationReason: 'Customer' }, 'undefined', 'Customer'],
    ['isTrialPeriod', { isTrialPeriod: true }, 'false', 'true'],
    ['isIntroPeriod', { isIntroPeriod: true }, 'false', 'true'],
    ['isConsumed', { isConsumed: true }, 'false', 'true'],
  ])('returns a difference of %s', (field, change, here, there) => {
    const differences = compare(fromCollection(purchase), fromCollection({ ...purchase, ...change }));
    expect(
      differences.map((difference) => [difference.field, String(difference.here), String(difference.there)]),
    ).toEqual([[field, here, there]]);
  });

  it('accepts dates within the tolerance, and missing purchases that are not owned', () => {
    expect(
      compare(fromCollection(purchase), fromCollection({ ...purchase, expiryDate: expiryDate + minuteMs })),
    ).toEqual([]);
    const expired = { ...purchase, id: 'old', isExpired: true };
    expect(compare(fromCollection(purchase, expired), fromCollection(purchase))).toEqual([]);
  });

  it('returns a product that only one validator reports as owned, and a purchase of several of one product', () => {
    const other = { ...purchase, purchaseId: '2' };
    expect(compare(fromCollection(purchase), fromCollection())).toEqual([
      { field: 'owned', productId: 'monthly', here: true, there: 'missing' },
    ]);
    expect(compare(fromCollection(purchase), fromCollection(purchase, other))).toEqual([
      { field: 'owned', productId: 'monthly', here: 'missing', there: true },
    ]);
  });

  it.each([
    ['without ids', [{}, {}], [{}, {}]],
    ['by ownership', [{}, { isExpired: true }], [{ isExpired: true }, {}]],
    ['without ids at one validator', [{ purchaseId: '1' }, { purchaseId: '2' }], [{}, {}]],
    ['with ids of two forms', [{ purchaseId: '1' }, { purchaseId: '2' }], [{ purchaseId: 'a' }, { purchaseId: 'b' }]],
    [
      'by transaction',
      [{ transactionId: '1' }, { transactionId: '2', isExpired: true }],
      [{ transactionId: 'apple:2', isExpired: true }, { transactionId: '1' }],
    ],
    [
      'by expiration',
      [{ expiryDate: now + 1 }, { expiryDate: now + dayMs }],
      [{ expiryDate: now + dayMs }, { expiryDate: now + 1 }],
    ],
    [
      'by purchase date',
      [{ purchaseDate: 1 }, { purchaseDate: now, isExpired: true }],
      [{ purchaseDate: now, isExpired: true }, { purchaseDate: 1 }],
    ],
  ])('pairs the purchases of a product %s', (_case, here, there) => {
    const toCollection = (states: readonly object[]) =>
      fromCollection(...states.map((state) => ({ id: 'coins', isExpired: false, ...state })));
    expect(compare(toCollection(here), toCollection(there))).toEqual([]);
    const missing = compare(toCollection(here), toCollection(there.slice(1)));
    expect(missing.every(({ field }) => field === 'owned')).toBe(true);
    expect(missing.length).toBeLessThanOrEqual(1);
  });

  it('does not pair purchases whose ids differ while others are equal', () => {
    const here = fromCollection(purchase, { ...purchase, purchaseId: '2' });
    const there = fromCollection(purchase, { ...purchase, purchaseId: '3' });
    expect(compare(here, there)).toEqual([
      { field: 'owned', productId: 'monthly', here: true, there: 'missing' },
      { field: 'owned', productId: 'monthly', here: 'missing', there: true },
    ]);
  });

  it('returns one difference if only one validation succeeds, and none if both fail', () => {
    const failed = fromValidationResponse({ ok: false, code: 6778003, message: 'Expired.', data: undefined }, now);
    expect(compare(fromCollection(purchase), failed)).toEqual([{ field: 'ok', here: true, there: 'no: Expired.' }]);
    expect(compare(failed, { ...failed, reason: 'Gone.' })).toEqual([]);
  });

  it('compares the purchases of customers by product', () => {
    const state = { expirationDate: expiryDate, purchaseId: 'apple:1', isExpired: false } as never;
    const here = fromCustomerPurchases({ purchases: { 'store_a:monthly': state } }, now);
    expect(compare(here, fromCustomerPurchases({ purchases: { 'apple:monthly': state } }, now))).toEqual([]);
    expect(compare(here, fromCustomerPurchases({ purchases: {} }, now))).toMatchObject([{ field: 'owned' }]);
  });
});

describe('toValidationBody', () => {
  const options = { vocabulary: 'neutral', includesUser: true } as const;

  it('never repeats a validation that charges the customer', () => {
    for (const transaction of [
      { type: 'braintree', paymentMethodNonce: 'nonce' },
      { type: 'processor_b', paymentMethodNonce: 'nonce' },
      { type: 'other', paymentMethodNonce: 'nonce' },
    ])
      expect(() => toValidationBody({ id: 'premium', type: 'consumable', transaction }, options)).toThrow(/charges/);
    expect(() => toValidationBody({ platform: 'braintree', productId: 'premium', token: 'abc' }, options)).toThrow(
      /charges/,
    );
  });

  it('keeps a recorded body, and omits its user on request', () => {
    const body = { id: 'p', type: 'consumable', transaction: { type: 'android-playstore' }, additionalData: { a: 1 } };
    expect(toValidationBody(body, options)).toEqual(body);
    expect(toValidationBody(body, { ...options, includesUser: false })).not.toHaveProperty('additionalData');
  });

  it('builds the body of a token in both vocabularies', () => {
    const row = { platform: 'google', user: 'ann', productId: 'google:premium', token: 'abc' };
    const body = {
      id: 'premium',
      type: 'paid subscription',
      transaction: { type: 'android-store', purchaseToken: 'abc' },
      additionalData: { applicationUsername: 'ann' },
    };
    expect(toValidationBody(row, options)).toEqual(body);
    expect(toValidationBody(row, { ...options, vocabulary: 'brand' })).toMatchObject({
      transaction: { type: 'android-playstore' },
    });
    expect(() => toValidationBody({ platform: 'store_a', originalTransactionId: '1' }, options)).toThrow(/--users/);
  });
});
