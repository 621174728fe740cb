import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../../lib/foundation/time.ts';
import {
  findLifecycleReasons,
  findNextAnnouncedRenewalDate,
  type StateAt,
} from '../../../../lib/purchases/lifecycle-reasons.ts';
import { type EncryptedObservation, merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { toPurchaseRecord } from '../../../../lib/purchases/to-records.ts';
import { createAppStore, createContext, validateSignedTransaction } from '../../../../testing/fake-apple.ts';
import { sampleRuns } from '../../../../testing/sample.ts';
import { observeNotification, signatureOnly } from './notification-fixture.ts';
import { buildLife, type LifeAction, lifeActions, type SubscriptionLife } from './subscription-life.ts';

const withoutToken = ({ refreshToken: _token, ...observation }: Observation): EncryptedObservation => observation;

/**
 * Returns the observations of the notifications and of the evidence that a client can submit, in the order of events.
 */
async function observeLife(
  { notifications, signedTransactions, customer, endsAt }: SubscriptionLife,
  { isApiAvailable }: { readonly isApiAvailable: boolean },
): Promise<{ readonly purchase: EncryptedObservation; readonly later: readonly EncryptedObservation[] }> {
  const { fetch } = createAppStore({ Production: customer });
  const { settings } = isApiAvailable ? createContext() : signatureOnly;
  const context = { settings, fetch, now: () => endsAt };
  const [bought, ...others] = notifications;
  const { observations: purchase } = await observeNotification(bought);
  const later: Observation[] = [];
  for (const input of others) later.push(...(await observeNotification(input, context)).observations);
  for (const payload of signedTransactions) {
    later.push(...(await validateSignedTransaction(customer, payload, { context })).observations);
  }
  return { purchase: withoutToken(purchase[0] as Observation), later: later.map(withoutToken) };
}

interface LifeResult {
  readonly state: PurchaseState;
  readonly reasons: readonly string[];
}

/**
 * Merges the observations in the order and returns the final state with all lifecycle reasons. Without a time, the
 * service receives each observation when the store makes it.
 */
function recordAll(
  purchase: EncryptedObservation,
  later: readonly EncryptedObservation[],
  endsAt?: number,
): LifeResult {
  let before: StateAt = { state: merge(undefined, purchase), at: purchase.asOf };
  const reasons: string[] = [];
  for (const observation of later) {
    // The observation of a past period has the time of that period.
    const at: number = endsAt ?? Math.max(before.at, observation.asOf);
    const state = merge(before.state, observation);
    const found = findLifecycleReasons(before, { state, at });
    reasons.push(...found);
    const dates = [findNextAnnouncedRenewalDate(before, state, found), state.purchase.lastRenewalDate].filter(
      (date) => date !== undefined,
    );
    before = { state, at, ...(dates.length > 0 && { announcedRenewalDate: Math.max(...dates) }) };
  }
  return { state: before.state, reasons };
}

/** Records the notifications when they are sent, without the lost one after the purchase and without an API key. */
async function receiveWithout(life: SubscriptionLife, lost: number): Promise<LifeResult> {
  const { purchase, later } = await observeLife({ ...life, signedTransactions: [] }, { isApiAvailable: false });
  return recordAll(purchase, later.toSpliced(lost, 1));
}

const lives = fc.array(fc.constantFrom(...lifeActions), { minLength: 1, maxLength: 7 });

const shuffle = <T>(values: readonly T[], positions: Iterator<number, unknown, undefined>): T[] =>
  values
    .map((value) => ({ value, position: Number(positions.next().value) }))
    .sort((a, b) => a.position - b.position)
    .map(({ value }) => value);

const count = (reasons: readonly string[], reason: string): number =>
  reasons.filter((candidate) => candidate === reason).length;

const countReasons = (reasons: readonly string[]): Record<string, number> =>
  Object.fromEntries(reasons.map((reason) => [reason, count(reasons, reason)]));

const countRenewals = ({ notifications }: SubscriptionLife): number =>
  notifications.filter(({ type }) => type === 'DID_RENEW' || type === 'SUBSCRIBED.RESUBSCRIBE').length;

/** Omits the as-of times: a state within a minute is not written again. */
const toView = ({ purchase, transactions }: PurchaseState, now: number) => ({
  purchase: toPurchaseRecord(purchase, now),
  transactions: transactions.map(({ transaction }) => transaction),
});

describe('merging partial observations (App Store)', () => {
  it.each([true, false])('ends in one state in any order (API available: %s)', async (isApiAvailable) => {
    await fc.assert(
      fc.asyncProperty(lives, fc.infiniteStream(fc.nat()), async (actions, positions) => {
        const life = buildLife(actions);
        const { purchase, later } = await observeLife(life, { isApiAvailable });
        const inOrder = recordAll(purchase, later, life.endsAt);
        for (let run = 0; run < 10; run++) {
          const shuffled = recordAll(purchase, shuffle(later, positions), life.endsAt);
          expect(shuffled.state).toEqual(inOrder.state);
        }
        const current = await validateSignedTransaction(life.customer, undefined, {
          context: { now: () => life.endsAt },
        });
        const actual = merge(inOrder.state, withoutToken(current.observations[0] as Observation));
        expect(toView(inOrder.state, life.endsAt)).toEqual(toView(actual, life.endsAt));
      }),
      sampleRuns({ sample: 10, full: 100 }),
    );
  });

  it('announces the same set in any order while the API is available', async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.infiniteStream(fc.nat()), async (actions, positions) => {
        const life = buildLife(actions);
        const { purchase, later } = await observeLife(life, { isApiAvailable: true });
        const expected = countReasons(recordAll(purchase, later, life.endsAt).reasons);
        for (let run = 0; run < 10; run++) {
          const announced = countReasons(recordAll(purchase, shuffle(later, positions), life.endsAt).reasons);
          // One observation announces all its new renewals as one, so their number depends on the order.
          const { RENEWED = 0 } = announced;
          expect(announced).toEqual({ ...expected, ...(expected.RENEWED && { RENEWED }) });
          expect(RENEWED).toBeLessThanOrEqual(countRenewals(life));
        }
      }),
      sampleRuns({ sample: 10, full: 100 }),
    );
  });

  it('announces no fact more often than it happened', async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.infiniteStream(fc.nat()), async (actions, positions) => {
        const life = buildLife(actions);
        const { purchase, later } = await observeLife(life, { isApiAvailable: false });
        const types = life.notifications.map(({ type }) => type.split('.')[0] ?? '');
        const { reasons } = recordAll(purchase, shuffle(later, positions), life.endsAt);
        expect(count(reasons, 'REFUNDED')).toBeLessThanOrEqual(count(types, 'REFUND'));
        // If the replaced period expired by its date, a later observation of the upgrade is a resubscription.
        const upgrades = count(types, 'DID_CHANGE_RENEWAL_PREF');
        expect(count(reasons, 'RENEWED')).toBeLessThanOrEqual(countRenewals(life) + upgrades);
        // A period whose renewal is not observed yet expires by its date.
        const periods = new Set(life.notifications.map(({ transaction }) => JSON.stringify(transaction))).size;
        expect(count(reasons, 'EXPIRED') + count(reasons, 'REVOKED')).toBeLessThanOrEqual(periods);
      }),
      sampleRuns({ sample: 10, full: 100 }),
    );
  });

  it('announces no renewal more often than it happened if a notification is lost', async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(6), async (actions, lost) => {
        const life = buildLife(['wait', 'upgrade', 'wait', ...actions]);
        const { reasons } = await receiveWithout(life, lost);
        expect(count(reasons, 'RENEWED')).toBeLessThanOrEqual(countRenewals(life));
      }),
      sampleRuns({ sample: 30, full: 300 }),
    );
  });

  it.each<[LifeAction[], string[]]>([
    [['wait', 'upgrade', 'wait', 'upgrade'], ['PLAN_CHANGED']],
    [
      ['wait', 'upgrade', 'wait', 'upgrade', 'renew'],
      ['PLAN_CHANGED', 'RENEWED'],
    ],
    // The renewal before the change is not known.
    [['wait', 'renew', 'upgrade'], ['PLAN_CHANGED']],
  ])('announces an upgrade after the known end as a change only (%j)', async (actions, expected) => {
    const { state, reasons } = await receiveWithout(buildLife(actions), 0);
    expect(reasons).toEqual(expected);
    const [renewal] = state.transactions.filter(({ transaction }) => transaction.isRenewal);
    expect(state.purchase.lastRenewalDate).toBe(renewal?.transaction.purchaseDate);
  });

  it.each<[string, LifeAction[], object]>([
    ['the refund of the latest period', ['renew', 'renew', 'refund latest'], { transactionId: 'store_a:1003' }],
    [
      'the refund of an upgrade',
      ['renew', 'upgrade', 'refund latest'],
      { transactionId: 'store_a:1003', productId: 'store_a:plan-2', amountMicros: 9_990_000 },
    ],
    ['the refund of an earlier period', ['renew', 'refund first'], { transactionId: 'store_a:1002', isExpired: false }],
    [
      'the refund of an earlier period after the end',
      ['renew', 'cancel', 'expire', 'refund first'],
      { transactionId: 'store_a:1002', cancelationReason: 'Customer' },
    ],
  ])('returns the latest transaction after %s', async (_title, actions, expected) => {
    const life = buildLife(actions);
    for (const isApiAvailable of [true, false]) {
      const { purchase, later } = await observeLife(life, { isApiAvailable });
      for (const order of [later, later.toReversed()]) {
        const { state } = recordAll(purchase, order, life.endsAt);
        expect(toPurchaseRecord(state.purchase, life.endsAt)).toMatchObject(expected);
      }
    }
  });

  it('keeps a running subscription whose first notification is the refund of an earlier period', async () => {
    const life = buildLife(['renew', 'refund first']);
    const notification = life.notifications.at(-1);
    // The renewal information of every notification has the end of the current period.
    const renewal = { ...notification?.renewal, renewalDate: life.endsAt + dayMs };
    const refund = { type: 'REFUND', ...notification, renewal };
    const { observations } = await observeNotification(refund, { ...signatureOnly, now: () => life.endsAt });
    const state = observations.map(withoutToken).reduce<PurchaseState | undefined>(merge, undefined);
    expect(state && toPurchaseRecord(state.purchase, life.endsAt)).toMatchObject({ isExpired: false });
    expect(state?.transactions).toMatchObject([{ transaction: { transactionId: 'store_a:1001' } }]);
  });

  it('moves lastRenewalDate with a renewal and not with an upgrade', async () => {
    for (const isApiAvailable of [true, false]) {
      const life = buildLife(['renew', 'upgrade']);
      const { purchase, later } = await observeLife(life, { isApiAvailable });
      const { state } = recordAll(purchase, later, life.endsAt);
      const [, renewal] = state.transactions;
      expect(state.purchase).toMatchObject({
        transactionId: 'store_a:1003',
        lastRenewalDate: renewal?.transaction.purchaseDate,
      });
    }
  });
});
