import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withRequestBudget } from '../../../../lib/stores/braintree/request-budget.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import type { BudgetedCalls } from '../../../../lib/stores/time-budget.ts';
import { createManualStopwatch } from '../../../../testing/stopwatch.ts';
import { type FakeBraintree, startFakeBraintree } from './fake-braintree.ts';

let braintree: FakeBraintree;
beforeAll(async () => {
  braintree = await startFakeBraintree();
});
afterAll(() => braintree.close());

const writes = [
  ['POST', 'https://api.braintreegateway.com/merchants/m/transactions'],
  ['POST', 'https://api.braintreegateway.com/merchants/m/subscriptions'],
] as const;
const reads = [
  ['GET', 'https://api.braintreegateway.com/merchants/m/subscriptions/id'],
  ['POST', 'https://api.braintreegateway.com/merchants/m/transactions/advanced_search_ids'],
] as const;

/** Sends calls after `passedMs`. Returns the timeout of each sent call and the outcome of each call. */
async function sendAfter(passedMs: number, calls: readonly (readonly ['GET' | 'POST', string])[]) {
  const timeouts: (number | undefined)[] = [];
  const sendCall: StoreFetch = async (_url, init) => {
    timeouts.push(init?.timeoutMs);
    return { status: 200, headers: new Headers(), text: '' };
  };
  const stopwatch = createManualStopwatch();
  const fetch = withRequestBudget({ fetch: sendCall, stopwatch });
  stopwatch.advance(passedMs);
  const results = await Promise.allSettled(calls.map(([method, url]) => fetch(url, { method })));
  return {
    timeouts,
    outcomes: results.map((result) => (result.status === 'rejected' ? result.reason.code : 'sent')),
  };
}

describe('withRequestBudget (Braintree)', () => {
  it('limits each call to 12 s and all calls to 24 s', async () => {
    expect((await sendAfter(0, [...writes, ...reads])).timeouts).toEqual([12_000, 12_000, 12_000, 12_000]);
    const { timeouts } = await sendAfter(18_000, [...writes, ...reads]);
    expect(timeouts).toEqual([6_000, 6_000, 6_000, 6_000]);
  });

  it('rejects writes without enough remaining time, but still sends reads', async () => {
    const { outcomes } = await sendAfter(20_000, [...writes, ...reads]);
    expect(outcomes).toEqual(['ConnectionFailed', 'ConnectionFailed', 'sent', 'sent']);
    expect((await sendAfter(23_900, reads)).outcomes).toEqual(['ConnectionFailed', 'ConnectionFailed']);
  });
});

/** Creates a fetch that advances its stopwatch by `ms` after each matching call. */
function createSlowCalls(paths: RegExp, ms: number): BudgetedCalls {
  const stopwatch = createManualStopwatch();
  const { url: storesUrl, clock } = braintree;
  const recordedFetch = createRecordedFetch({
    storeName: 'Braintree',
    record: () => undefined,
    now: clock.now,
    stopwatch,
    storesUrl,
  });
  return {
    stopwatch,
    fetch: async (url, init) => {
      const response = await recordedFetch(url, init);
      if (paths.test(url)) stopwatch.advance(ms);
      return response;
    },
  };
}

describe('validate (Braintree) after an interrupted attempt', () => {
  it('creates a subscription once if the first attempt ran out of time before the payment', async () => {
    const { body } = await braintree.buy({ productId: 'monthly', type: 'paid subscription' });
    const context = braintree.createContext(createSlowCalls(/\/customers/, 12_000));
    await expect(braintree.validate(body, context)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    const before = braintree.countCharges();
    const { observations } = await braintree.validate(body);
    expect(observations).toMatchObject([{ purchase: { renewalIntent: 'Renew' } }]);
    expect(braintree.countCharges() - before).toBe(1);
  });

  it('recovers a subscription if the response of the first attempt was lost', async () => {
    const { body } = await braintree.buy({ productId: 'monthly', type: 'paid subscription' });
    braintree.loseResponse(/\/subscriptions$/);
    await expect(braintree.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    const before = braintree.countCharges();
    expect((await braintree.validate(body)).observations).toMatchObject([{ purchase: { renewalIntent: 'Renew' } }]);
    expect(braintree.countCharges()).toBe(before);
  });
});
