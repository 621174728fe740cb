import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withRequestBudget } from '../../../../lib/stores/processor-b/request-budget.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { type Braintree, useBraintree } from './fake-braintree.ts';

let braintree: Braintree;
beforeAll(async () => {
  braintree = await useBraintree();
});
afterAll(() => braintree.close());

const changes = [
  ['POST', 'https://api.braintreegateway.com/merchants/m/transactions'],
  ['POST', 'https://api.braintreegateway.com/merchants/m/subscriptions'],
] as const;
const reads = [
  ['GET', 'https://api.braintreegateway.com/merchants/m/subscriptions/id'],
  ['POST', 'https://api.braintreegateway.com/merchants/m/transactions/advanced_search_ids'],
] as const;

/** The time given to each of some calls, and the machine's clock moved on before them. */
async function given(passedMs: number, calls: readonly (readonly ['GET' | 'POST', string])[]) {
  const times: (number | undefined)[] = [];
  const fetch = withRequestBudget(async (_url, init) => {
    times.push(init?.timeoutMs);
    return { status: 200, headers: new Headers(), text: '' };
  });
  const { now } = performance;
  try {
    performance.now = () => now.call(performance) + passedMs;
    const results = await Promise.allSettled(calls.map(([method, url]) => fetch(url, { method })));
    return { times, codes: results.map((one) => (one.status === 'rejected' ? one.reason.code : 'asked')) };
  } finally {
    performance.now = now;
  }
}

it('no call takes longer than 12 s, and all together no longer than 24 s', async () => {
  expect((await given(0, [...changes, ...reads])).times).toEqual([12_000, 12_000, 12_000, 12_000]);
  const { times } = await given(18_000, [...changes, ...reads]);
  for (const time of times) expect(time).toBeLessThanOrEqual(6_000);
});

it('a payment is not begun when there is hardly time for it, but one can still be looked for', async () => {
  const { codes } = await given(20_000, [...changes, ...reads]);
  expect(codes).toEqual(['ConnectionFailed', 'ConnectionFailed', 'asked', 'asked']);
  expect((await given(23_900, reads)).codes).toEqual(['ConnectionFailed', 'ConnectionFailed']);
});

/** A fetch after which the given time of the deadline seems to have passed. */
function slowly(paths: RegExp, ms: number): { fetch: StoreFetch; restore: () => void } {
  const { now } = performance;
  const through = createRecordedFetch({ record: () => undefined, now: braintree.clock.now, storesUrl: braintree.url });
  let passedMs = 0;
  performance.now = () => now.call(performance) + passedMs;
  return {
    restore: () => {
      performance.now = now;
    },
    fetch: async (url, init) => {
      const response = await through(url, init);
      if (paths.test(url)) passedMs += ms;
      return response;
    },
  };
}

it('a subscription that ran out of time before its payment is made by the next try, once', async () => {
  const { body } = await braintree.bought({ productId: 'monthly', type: 'paid subscription' });
  const slow = slowly(/\/payment_methods/, 12_000);
  try {
    await expect(braintree.validate(body, braintree.asking({ fetch: slow.fetch }))).rejects.toMatchObject({
      code: 'ConnectionFailed',
    });
  } finally {
    slow.restore();
  }
  const before = braintree.charged();
  const { observations } = await braintree.validate(body);
  expect(observations).toMatchObject([{ purchase: { renewalIntent: 'Renew' } }]);
  expect(braintree.charged() - before).toBe(1);
});

it('a subscription whose payment was made too late to be seen is found by the next try', async () => {
  const { body } = await braintree.bought({ productId: 'monthly', type: 'paid subscription' });
  braintree.loseAnswer(/\/subscriptions$/);
  await expect(braintree.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  const before = braintree.charged();
  expect((await braintree.validate(body)).observations).toMatchObject([{ purchase: { renewalIntent: 'Renew' } }]);
  expect(braintree.charged()).toBe(before);
});
