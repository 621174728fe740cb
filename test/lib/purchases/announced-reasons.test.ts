import { describe, expect, it } from '@jest/globals';
import { dayMs, hourMs, secondMs } from '../../../lib/foundation/time.ts';
import type { EncryptedObservation } from '../../../lib/purchases/merge.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { computePurchaseChange, type PurchaseUpdate } from '../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

const buildUpdate = (fields: Partial<PurchaseUpdate>): PurchaseUpdate => ({
  trigger: 'notification',
  strategy: 'all',
  now: startDate,
  ...fields,
});

/** Applies an update. Returns the stored purchase and the announced reasons. */
function update(before: StoredPurchase | undefined, fields: Partial<PurchaseUpdate>) {
  const change = computePurchaseChange(before, buildUpdate(fields));
  return { stored: change?.after ?? before, announcedReasons: change?.announcedReasons ?? [] };
}

const observe = (state: Partial<Purchase> = {}, asOf = startDate) => createObservation(state, { asOf });
const claimByAnn = { username: 'ann', source: 'validation' } as const;
const owned = update(undefined, { trigger: 'validation', observation: observe(), claim: claimByAnn }).stored;
const unclaimed = update(undefined, { observation: observe() }).stored;
const later = { now: startDate + dayMs };

describe('selectAnnouncedReasons', () => {
  it('announces a purchase and its first validation', () => {
    const { announcedReasons } = update(undefined, {
      trigger: 'validation',
      observation: observe(),
      claim: claimByAnn,
    });
    expect(announcedReasons).toEqual(['PURCHASED', 'RECEIPT_VALIDATED']);
  });

  it('announces a purchase from a store notification when it gains its first user', () => {
    const { announcedReasons } = update(unclaimed, {
      ...later,
      trigger: 'validation',
      observation: observe(),
      claim: claimByAnn,
    });
    expect(announcedReasons).toEqual(['PURCHASED', 'RECEIPT_VALIDATED']);
    expect(update(unclaimed, { ...later, storeUser: 'ann', observation: observe() }).announcedReasons).toEqual([
      'PURCHASED',
    ]);
  });

  it('announces nothing if a client validates an unchanged purchase again', () => {
    const observation = observe({}, startDate + dayMs);
    const repeated = { ...later, trigger: 'validation', observation, claim: claimByAnn } as const;
    expect(update(owned, repeated).announcedReasons).toEqual([]);
  });

  it('announces the validation of a second user without a purchase', () => {
    const claim = { username: 'bob', source: 'validation' } as const;
    expect(update(owned, { ...later, trigger: 'validation', claim }).announcedReasons).toEqual(['RECEIPT_VALIDATED']);
  });

  it('announces a manual link with the reason OTHER', () => {
    const claim = { username: 'bob', source: 'manual' } as const;
    expect(update(owned, { ...later, trigger: 'link', claim }).announcedReasons).toEqual(['OTHER']);
  });

  it('announces the revocation of an earlier period together with the expiration of the current one', () => {
    const first = createTransaction(observe().purchase, { refundedAt: startDate + dayMs, amountMicros: 0 });
    const renewed = observe(
      { transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs },
      startDate + 31 * dayMs,
    );
    const { stored } = update(owned, { now: startDate + 31 * dayMs, observation: renewed });
    const observation = { ...renewed, asOf: startDate + 70 * dayMs, transactions: [first, ...renewed.transactions] };
    expect(
      update(stored, { now: startDate + 70 * dayMs, observation, storeReason: 'REVOKED' }).announcedReasons,
    ).toEqual(['REVOKED', 'EXPIRED']);
  });

  it('announces the lost dispute of an earlier period as a refund', () => {
    const first = createTransaction(observe().purchase, { refundedAt: startDate + dayMs });
    const end = { transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs };
    const renewed = observe(end, startDate + 31 * dayMs);
    const { stored } = update(owned, { now: startDate + 31 * dayMs, observation: renewed });
    const observation = { ...renewed, asOf: startDate + 40 * dayMs, transactions: [first, ...renewed.transactions] };
    const { announcedReasons } = update(stored, { now: startDate + 40 * dayMs, observation, storeReason: 'REVOKED' });
    expect(announcedReasons).toEqual(['REFUNDED']);
  });

  it.each<[string, Partial<Purchase>, PurchaseUpdate['trigger'], string[]]>([
    ['a renewal by a store notification', { transactionId: 'store_a:2' }, 'notification', ['RENEWED']],
    ['a renewal by a refresh', { transactionId: 'store_a:2' }, 'refresh', ['RENEWED']],
    ['another change by a refresh', { discountId: 'SUMMER' }, 'refresh', ['RECEIPT_REFRESHED']],
    ['another change by a store notification', { discountId: 'SUMMER' }, 'notification', ['OTHER']],
    ['a date of the renewal intent', { renewalIntentChangeDate: startDate }, 'notification', []],
    ['an unchanged purchase', {}, 'refresh', []],
  ])('announces %s with the expected reasons', (_what, state, trigger, expected) => {
    const observation = observe(state, startDate + dayMs);
    expect(update(owned, { ...later, trigger, observation }).announcedReasons).toEqual(expected);
  });

  it('announces the end of a purchase once, even if later notifications change its end date', () => {
    const end = { renewalIntent: 'Lapse', cancelationReason: 'System' } as const;
    const observation = observe({ ...end, expirationDate: startDate + dayMs }, startDate + dayMs);
    const first = update(owned, { ...later, observation });
    expect(first.announcedReasons).toEqual(['EXPIRED']);
    const dated = observe(
      { ...end, expirationDate: startDate + dayMs, endedAt: startDate + dayMs - 5 * secondMs },
      startDate + dayMs + 1,
    );
    expect(update(first.stored, { ...later, observation: dated }).announcedReasons).toEqual([]);
    const withReason = observe(
      { ...end, cancelationReason: 'Customer', endedAt: startDate + dayMs - 5 * secondMs },
      startDate + dayMs + 2,
    );
    expect(update(first.stored, { ...later, observation: withReason }).announcedReasons).toEqual(['OTHER']);
  });

  // Without the API, the App Store returns single transactions, in any order.
  it.each<[string, Partial<Transaction>, string[][]]>([
    ['a plan change that resembles a renewal', { isRenewal: false }, [['RENEWED'], [], []]],
    ['a renewal', { isRenewal: true }, [['RENEWED'], [], []]],
    ['another product', { isRenewal: false, productId: 'store_a:weekly' }, [['PLAN_CHANGED'], ['RENEWED'], []]],
  ])(
    'announces renewals before the latest payment once if they are observed after it (%s)',
    (_what, fields, expected) => {
      let { stored } = update(undefined, { observation: observe() });
      const pay = (number: number, day: number, period: Partial<Transaction>) => {
        const purchaseDate = startDate + day * dayMs;
        const { productId = 'store_a:monthly' } = period;
        const purchase = { transactionId: `store_a:${number}`, productId, expirationDate: purchaseDate + 31 * dayMs };
        const observation = observe(purchase, startDate + 80 * dayMs);
        const transactions = [createTransaction(observation.purchase, { purchaseDate, ...period })];
        const partial = { ...observation, transactions, isOrderedByTransaction: true as const };
        const { announcedReasons, ...next } = update(stored, { observation: partial, now: startDate + 80 * dayMs });
        stored = next.stored;
        return announcedReasons.filter((reason) => reason !== 'OTHER');
      };
      const renewal = { isRenewal: true };
      expect([pay(4, 75, fields), pay(2, 31, renewal), pay(3, 62, renewal)]).toEqual(expected);
      expect(pay(5, 106, { ...fields, ...renewal })).toEqual(['RENEWED']);
    },
  );

  it('announces no renewal if a concurrent update of an earlier time is written after the expiration', () => {
    const expiresAt = startDate + 31 * dayMs;
    const expired = update(owned, { now: expiresAt + secondMs, observation: observe({}, expiresAt + secondMs) });
    expect(expired.announcedReasons).toEqual(['EXPIRED']);
    const earlier = { now: expiresAt - secondMs, observation: observe({}, expiresAt - secondMs) };
    expect(update(expired.stored, earlier).announcedReasons).toEqual([]);
    const repeated = { now: expiresAt + 2 * secondMs, observation: observe({}, expiresAt + 2 * secondMs) };
    expect(update(update(expired.stored, earlier).stored, repeated).announcedReasons).toEqual([]);
  });

  it('announces a replacement through the new purchase only', () => {
    const end = { endedAt: startDate + dayMs, cancelationReason: 'System.Replaced' } as const;
    const replaced = update(owned, { ...later, observation: observe(end, startDate + dayMs) });
    expect(replaced.announcedReasons).toEqual([]);
    const next = observe(
      { purchaseId: 'store_a:2', transactionId: 'store_a:2', productId: 'store_a:yearly' },
      startDate + dayMs,
    );
    const replacedPurchase = replaced.stored && { replacedPurchase: replaced.stored };
    const replacement = update(undefined, { ...later, observation: next, ...replacedPurchase });
    expect(replacement.announcedReasons).toEqual(['PLAN_CHANGED']);
    expect(replacement.stored?.entitledUsers).toEqual(['ann']);
  });

  it('announces a paid replacement with a formerly pending payment as PLAN_CHANGED', () => {
    const ids = { purchaseId: 'store_b:2', transactionId: 'store_b:2', productId: 'store_b:yearly' };
    const pending = update(undefined, { ...later, observation: observe({ ...ids, isPending: true }, startDate) });
    expect(pending.announcedReasons).not.toContain('PURCHASED');
    const paid = observe(ids, startDate + dayMs);
    const replacement = update(pending.stored, {
      ...later,
      observation: paid,
      ...(owned && { replacedPurchase: owned }),
    });
    expect(replacement.announcedReasons).toEqual(['PLAN_CHANGED']);
  });

  it('announces a replacement of an expired purchase as RENEWED', () => {
    const expired = update(owned, { now: startDate + 40 * dayMs, trigger: 'refresh' }).stored ?? owned;
    const purchaseDate = startDate + 40 * dayMs;
    const next = observe(
      {
        purchaseId: 'store_a:2',
        transactionId: 'store_a:2',
        productId: 'store_a:yearly',
        purchaseDate,
        expirationDate: startDate + 70 * dayMs,
      },
      purchaseDate,
    );
    const replacement = { now: purchaseDate, observation: next, ...(expired && { replacedPurchase: expired }) };
    expect(update(undefined, replacement).announcedReasons).toEqual(['RENEWED']);
    const lastRenewalDate = purchaseDate + 30 * dayMs;
    const renewed = { ...next, purchase: { ...next.purchase, lastRenewalDate } };
    expect(update(undefined, { ...replacement, observation: renewed }).announcedReasons).toEqual(['RENEWED']);
  });

  it('announces a revocation once, although its refund is reported later', () => {
    const end = { endedAt: startDate + dayMs, cancelationReason: 'Unknown' } as const;
    const first = update(owned, { ...later, observation: observe(end, startDate + dayMs), storeReason: 'REVOKED' });
    expect(first.announcedReasons).toEqual(['REVOKED']);
    const observation = {
      ...observe({ ...end, cancelationReason: 'System' }, startDate + 2 * dayMs),
      transactions: [createTransaction(observe().purchase, { refundedAt: startDate + dayMs })],
    };
    const { announcedReasons } = update(first.stored, { ...later, observation, storeReason: 'REVOKED' });
    expect(announcedReasons).toEqual(['REFUNDED']);
  });

  const announceWhileUnavailable = (observation: EncryptedObservation, unverifiedHours?: number) => {
    let { stored } = update(undefined, {
      trigger: 'validation',
      observation: { ...observation, refreshToken: 'encrypted' },
      claim: claimByAnn,
      unverifiedHours,
    });
    const announcedAfter: (readonly [hours: number, reason: string])[] = [];
    for (let hours = 0; hours < 50; hours++) {
      const next = update(stored, { trigger: 'refresh', now: startDate + 31 * dayMs + hours * hourMs });
      announcedAfter.push(...next.announcedReasons.map((reason) => [hours, reason] as const));
      stored = next.stored;
    }
    return announcedAfter;
  };

  it('announces the expiration of a renewing subscription once, 24 hours after its date, if its store is unavailable', () => {
    expect(announceWhileUnavailable(observe())).toEqual([[24, 'EXPIRED']]);
  });

  it('announces the expiration after the hours that the app has set', () => {
    expect(announceWhileUnavailable(observe(), 48)).toEqual([[48, 'EXPIRED']]);
    expect(announceWhileUnavailable(observe(), 0)).toEqual([[0, 'EXPIRED']]);
  });

  it.each([
    ['lapses', { renewalIntent: 'Lapse' }],
    ['has a failed payment', { isBillingRetryPeriod: true }],
    ['does not renew', { productType: 'non renewing subscription' }],
  ] as const)('announces the expiration of a subscription that %s on its date', (_title, fields) => {
    expect(announceWhileUnavailable(observe(fields))).toEqual([[0, 'EXPIRED']]);
  });

  it('announces the expiration on its date if the store has reported the state after it', () => {
    const asOf = startDate + 31 * dayMs;
    expect(announceWhileUnavailable({ ...observe(), asOf })).toEqual([[0, 'EXPIRED']]);
  });
});

describe('selectAnnouncedReasons for an import without webhooks', () => {
  const importedAt = startDate + 10 * dayMs;
  const claim = { ...claimByAnn, claimedAt: startDate };
  const runImport = (before: StoredPurchase | undefined, fields: Partial<PurchaseUpdate> = {}) => {
    const change = computePurchaseChange(
      before,
      buildUpdate({ trigger: 'import', observation: observe(), claim, now: importedAt, ...fields }),
    );
    return { change, stored: change?.after ?? before };
  };
  const renewal = (at: number) =>
    observe({ transactionId: 'store_a:2', lastRenewalDate: at, expirationDate: at + 31 * dayMs }, at);

  it('announces nothing for a new purchase and stores no notification of it', () => {
    expect(runImport(undefined).change).toMatchObject({
      announcedReasons: [],
      lifecycleReasons: [],
      gainedUsers: ['ann'],
    });
  });

  it('does not announce the purchase when it gains its first user later', () => {
    const change = computePurchaseChange(undefined, buildUpdate({ trigger: 'import', observation: observe() }));
    const { announcedReasons } = update(change?.after, { ...later, trigger: 'validation', claim: claimByAnn });
    expect(announcedReasons).toEqual(['RECEIPT_VALIDATED']);
    expect(update(change?.after, { ...later, storeUser: 'ann' }).announcedReasons).toEqual(['OTHER']);
  });

  it('does not announce history that another row of the file adds', () => {
    const { stored } = runImport(undefined);
    expect(runImport(stored, { observation: renewal(startDate + 5 * dayMs) }).change).toMatchObject({
      announcedReasons: [],
      lifecycleReasons: [],
    });
  });

  it('announces what occurs after the import: by a notification, a refresh and a repeated import', () => {
    const { stored } = runImport(undefined);
    const renewedAt = startDate + 31 * dayMs;
    const fields = { now: renewedAt, observation: renewal(renewedAt) };
    expect(update(stored, { ...fields, trigger: 'notification' }).announcedReasons).toEqual(['RENEWED']);
    expect(update(stored, { ...fields, trigger: 'refresh' }).announcedReasons).toEqual(['RENEWED']);
    expect(runImport(stored, fields).change).toMatchObject({ announcedReasons: ['RENEWED'] });
    const { purchase } = observe();
    const refundedAt = importedAt + dayMs;
    const refund = {
      ...observe({ endedAt: refundedAt, cancelationReason: 'Customer' }, refundedAt),
      transactions: [createTransaction(purchase, { refundedAt })],
    };
    expect(update(stored, { now: refundedAt, observation: refund }).announcedReasons).toEqual(['REFUNDED']);
  });

  it('announces the payment of a purchase that was imported pending', () => {
    const pending = { ...observe({ isPending: true }), transactions: [] };
    const { stored } = runImport(undefined, { observation: pending });
    const paid = observe({}, importedAt + dayMs);
    expect(update(stored, { now: importedAt + dayMs, observation: paid }).announcedReasons).toEqual(['PURCHASED']);
  });

  it('announces the renewal, but not the claim, that it finds for a purchase of a client', () => {
    const { stored } = update(undefined, { trigger: 'validation', observation: observe(), claim: claimByAnn });
    const fields = { claim: { ...claim, username: 'bob' }, observation: renewal(startDate + 5 * dayMs) };
    expect(runImport(stored, fields).change).toMatchObject({ announcedReasons: ['RENEWED'] });
    const { change } = runImport(stored, { claim: { ...claim, username: 'bob' } });
    expect(change).toMatchObject({ announcedReasons: [], gainedUsers: ['bob'] });
  });

  it('changes nothing if it is repeated', () => {
    const { stored } = runImport(undefined);
    expect(runImport(stored).change).toBeUndefined();
  });

  it('records whether store notifications arrive, until a refresh finds a change without one', () => {
    const notified = update(owned, { ...later, observation: observe({ renewalIntent: 'Lapse' }, later.now) }).stored;
    expect(notified?.isNotified).toBe(true);
    const refresh = { trigger: 'refresh', now: startDate + 5 * dayMs } as const;
    const lapses = observe({ renewalIntent: 'Lapse' }, refresh.now);
    expect(update(notified, { ...refresh, observation: lapses }).stored?.isNotified).toBe(true);
    const renews = observe({ renewalIntent: 'Renew' }, refresh.now);
    expect(update(notified, { ...refresh, observation: renews }).stored?.isNotified).toBeUndefined();
  });
});
