import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFixedClock, startEmulatorClient } from '../../../emulator/test/emulator-client.ts';
import { parse } from '../../../lib/foundation/parse.ts';
import type { Platform } from '../../../lib/foundation/platform.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import { merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import type { Observation } from '../../../lib/purchases/observation.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { loadStore } from '../../../lib/stores/index.ts';
import { createRecordedFetch } from '../../../lib/stores/recorded-fetch.ts';
import type { StoreContext } from '../../../lib/stores/store-context.ts';
import { validateReceipt } from '../../../lib/validation/contract.ts';
import { toValidationRequest } from '../../../lib/validation/to-validation-request.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { listSubscriptionActions, toActionRequest } from '../../../testing/ownership-actions.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { stoppedStopwatch } from '../../../testing/stopwatch.ts';

const emulator = startBeforeAll(async () => await startEmulatorClient({ clock: createFixedClock() }));

/** An app that keeps in memory what it has observed. */
function createObserver(platform: Platform) {
  const states = new Map<string, PurchaseState>();
  let stored: ReadonlyMap<string, PurchaseState> = states;
  const { now } = emulator.clock;
  const stopwatch = stoppedStopwatch;
  const context: StoreContext = {
    appName: 'app',
    settings: emulator.settings(platform),
    now,
    stopwatch,
    extraRoots: [emulator.rootCertificate],
    runOnce: async (_key, run) => await run(),
    fetch: createRecordedFetch({ storeName: platform, record: () => {}, now, stopwatch, storesUrl: emulator.url }),
    findPurchase: async (purchaseId) => stored.get(purchaseId)?.purchase,
    listTransactions: async (id) => stored.get(id)?.transactions.map(({ transaction }) => transaction) ?? [],
  };
  const record = ({ refreshToken: _token, ...observation }: Observation): void => {
    const { purchaseId } = observation.purchase;
    states.set(purchaseId, merge(states.get(purchaseId), observation));
  };
  return {
    async validate(ids: readonly string[]) {
      for (const id of ids) {
        const { validate: body } = (await emulator.control('GET', `/control/purchases/${id}`)).body;
        const request = toValidationRequest(parse(validateReceipt.body, body));
        const { observations } = await (await loadStore(platform)).validate(request, context);
        observations.forEach(record);
      }
    },
    /** Runs queries that all read the state before the first of them, as workers do that start at the same time. */
    async runAtOnce(run: () => Promise<void>) {
      stored = new Map(states);
      await run();
      stored = states;
    },
    listStates: () => [...states].sort().map(([, state]) => toComparable(state)),
  };
}

/**
 * Leaves out what only a query at its time shows: the choices of the customer, the reason of a failed payment, a plan
 * change that was announced for the next period, and the end of a period before the store cut it.
 */
function toComparable({ purchase, transactions, userAliases }: PurchaseState): object {
  const { renewalIntentChangeDate: _date, renewalIntentDates: _dates, renewalProductId: _next, ...rest } = purchase;
  const { cancelationReason: reason } = purchase;
  const payments = transactions.map(({ transaction }): Partial<Transaction> => {
    const { plannedExpirationDate: _planned, ...payment } = transaction;
    return payment;
  });
  return { ...rest, ...(reason === 'System.BillingError' && { cancelationReason: 'System' }), payments, userAliases };
}

const actions = ['renew', 'renew', 'cancel', 'uncancel', 'fail-payment', 'recover', 'expire', 'refund', 'revoke'];
const ownActions = {
  store_a: ['reverse-refund', 'restore', 'restore as of now'],
  store_b: ['pause', 'resume', 'refund of a part', 'resubscribe'],
} as const;

const arbitraryHistory = (platform: keyof typeof ownActions) => {
  const names = [...actions, ...ownActions[platform], 'change-plan', 'change-plan', 'raise-price', 'accept-price'];
  const advances = fc.constantFrom('PT1H', 'P3D', 'P8D', 'P14D');
  return fc.record({
    order: fc.constantFrom({}, { intro: true }),
    period: fc.constantFrom('P1W', 'P1M', 'P1M'),
    autoRenew: fc.boolean(),
    // Months have several lengths.
    startDay: fc.nat({ max: 730 }),
    steps: fc.array(fc.record({ name: fc.constantFrom(...names), advance: advances, isObserved: fc.boolean() }), {
      minLength: 2,
      maxLength: 5,
    }),
  });
};

describe('validate', () => {
  it.each(['store_a', 'store_b'] as const)(
    'returns the same state of a subscription of %s, whenever and however often it was queried before',
    async (platform) => {
      const property = fc.asyncProperty(
        arbitraryHistory(platform),
        async ({ order, period, startDay, steps, ...terms }) => {
          await emulator.reset();
          emulator.clock.set(Date.parse('2027-01-01T10:00:00Z') + startDay * dayMs);
          const productIds = [createUniqueName(), createUniqueName()] as const;
          const bought = await emulator.buy({ platform, productId: productIds[0], period, ...terms, ...order });
          const ids: string[] = [bought.body.id];
          const [always, sometimes, late, reversed] = ['', '', '', ''].map(() => createObserver(platform));
          let planChanges = 0;
          for (const { name, advance, isObserved } of steps) {
            const { action, details } = toActionRequest(name);
            const plan = { productId: productIds[(planChanges + 1) % 2], period, priceMicros: 7_990_000 };
            const body = { ...details, ...(action === 'change-plan' && plan) };
            const { status, body: result } = await emulator.act(ids.at(-1) ?? '', action, body);
            if (status === 200 && action === 'change-plan') planChanges++;
            if (status === 200 && !ids.includes(result.id)) ids.push(result.id);
            await always?.validate(ids);
            if (isObserved) await sometimes?.validate(ids);
            await emulator.advance(advance);
            await always?.validate(ids);
          }
          // The second query shows what a purchase that replaced another one has changed.
          for (let round = 0; round < 2; round++) {
            emulator.clock.set(emulator.clock.now() + minuteMs);
            for (const observer of [always, sometimes, late]) await observer?.validate(ids);
            await reversed?.validate(ids.toReversed());
          }
          for (const observer of [sometimes, late, reversed])
            expect(observer?.listStates()).toEqual(always?.listStates());
        },
      );
      await fc.assert(property, { ...sampleRuns({ sample: 4, full: 300 }), endOnFailure: true });
    },
    3_600_000,
  );

  it.each(['store_a', 'store_b', 'store_c', 'processor_a', 'processor_b'] as const)(
    'returns the same state of a subscription of %s if the queries before and after a change read the same state',
    async (platform) => {
      const names = listSubscriptionActions(platform, 'plain');
      const histories = fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 5 });
      const property = fc.asyncProperty(histories, fc.nat({ max: 730 }), async (history, startDay) => {
        await emulator.reset();
        emulator.clock.set(Date.parse('2027-01-01T10:00:00Z') + startDay * dayMs);
        const terms = { productId: createUniqueName(), period: 'P1M', autoRenew: true };
        const ids: string[] = [(await emulator.buy({ platform, ...terms })).body.id];
        const [serial, concurrent] = [createObserver(platform), createObserver(platform)];
        const validate = async () => {
          for (const observer of [serial, concurrent]) await observer.validate(ids);
        };
        await validate();
        for (const name of history) {
          const { action, details } = toActionRequest(name);
          const plan = { productId: createUniqueName(), period: 'P1M', priceMicros: 7_990_000 };
          await concurrent.runAtOnce(async () => {
            await validate();
            emulator.clock.set(emulator.clock.now() + 5);
            const body = { ...details, ...(action === 'change-plan' && plan) };
            const { status, body: result } = await emulator.act(ids.at(-1) ?? '', action, body);
            if (status === 200 && !ids.includes(result.id)) ids.push(result.id);
            await validate();
          });
          await emulator.advance('P8D');
          await validate();
        }
        expect(concurrent.listStates()).toEqual(serial.listStates());
      });
      await fc.assert(property, { ...sampleRuns({ sample: 3, full: 60 }), endOnFailure: true });
    },
    3_600_000,
  );
});
