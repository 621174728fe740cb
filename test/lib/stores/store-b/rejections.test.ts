import { describe, expect, it } from '@jest/globals';
import { storeB } from '../../../../lib/stores/store-b/store-b.ts';
import { askingGoogle, later, now, type ProductAnswer, request, type SubscriptionAnswer } from './fake-google.ts';

type Answer = readonly [status: number, body: object | string];

const problem = (status: number, reason: string): Answer => [status, { error: { code: status, errors: [{ reason }] } }];

/** A Google whose answers depend on the address; what it does not know is 404. */
const asking = (responses: Readonly<Record<string, Answer>>, changes: object = {}) => {
  const usual = askingGoogle({});
  return askingGoogle(
    {},
    {
      ...changes,
      fetch: async (url, init) => {
        if (url.includes('oauth2')) return await usual.fetch(url, init);
        const [status, body] =
          Object.entries(responses).find(([part]) => url.includes(part))?.[1] ?? problem(404, 'none');
        return { status, headers: new Headers(), text: typeof body === 'string' ? body : JSON.stringify(body) };
      },
    },
  );
};
const withSetting = (responses: Readonly<Record<string, Answer>>) => {
  const { settings } = askingGoogle({});
  return asking(responses, { settings: { ...(settings as object), acknowledge: true } });
};

const subscription = (productId: string, changes: object = {}, line: object = {}): SubscriptionAnswer => ({
  startTime: '2026-11-01T00:00:00Z',
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  acknowledgementState: 'ACKNOWLEDGEMENT_STATE_PENDING',
  lineItems: [{ productId, expiryTime: later, latestSuccessfulOrderId: 'GPA.1', ...line }],
  ...changes,
});

describe('what Google says of a token', () => {
  it.each<[string, Answer, string]>([
    ['used-up quota', problem(403, 'rateLimitExceeded'), 'ConnectionFailed'],
    ['missing permissions', problem(403, 'permissionDenied'), 'InternalError'],
    ['another writer', problem(409, 'concurrentUpdate'), 'ConnectionFailed'],
    ['an unknown application', problem(404, 'applicationNotFound'), 'InternalError'],
    ['a page with 404', [404, '<html>Not Found</html>'], 'ConnectionFailed'],
    ['a page with 403', [403, '<html>Forbidden</html>'], 'ConnectionFailed'],
    ['a long expired purchase', problem(410, 'purchaseTokenNoLongerValid'), 'PurchaseExpired'],
    ['an unknown token', problem(404, 'purchaseTokenNotFound'), 'InvalidPayload'],
    ['a subscription without end', [200, subscription('premium', {}, { expiryTime: undefined })], 'ConnectionFailed'],
  ])('when it is %s is told apart', async (_what, result, code) => {
    await expect(storeB.validate(request(), asking({ '/applications/': result }))).rejects.toMatchObject({ code });
  });

  it.each(['\ud800', '..', 'a b'])('is not asked for %j, which is no token', async (purchaseToken) => {
    const body = { ...request(), transaction: { purchaseToken } };
    await expect(storeB.validate(body, asking({}))).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describe('a subscription that replaces another', () => {
  const both = (
    state: string,
    old: Answer = [200, subscription('basic', {}, { latestSuccessfulOrderId: 'GPA.0..2' })],
  ) =>
    asking({
      'tokens/token-1': [
        200,
        subscription('premium', { subscriptionState: `SUBSCRIPTION_STATE_${state}`, linkedPurchaseToken: 'old' }),
      ],
      'tokens/old': old,
      'GPA.0..2': [200, { total: { currencyCode: 'EUR', units: '3' }, createTime: '2026-10-15T00:00:00Z' }],
    });
  const idsIn = async (state: string) =>
    (await storeB.validate(request(), both(state))).observations.map(({ purchase }) => purchase.purchaseId);

  it.each(['PENDING', 'PENDING_PURCHASE_CANCELED'])('leaves it alone while it is %s', async (state) => {
    expect(await idsIn(state)).toEqual(['store_b:token-1']);
  });

  it('ended it when it began, and leaves what was paid for it as it was', async () => {
    const [, old] = (await storeB.validate(request(), both('ACTIVE'))).observations;
    expect(old).toMatchObject({
      purchase: { endedAt: Date.parse('2026-11-01T00:00:00Z'), cancelationReason: 'System.Replaced' },
      transactions: [{ purchaseDate: Date.parse('2026-10-15T00:00:00Z'), amountMicros: 3_000_000 }],
    });
  });

  it('is not granted beside it while that cannot be ended', async () => {
    const rejected = storeB.validate(request(), both('ACTIVE', [503, 'down']));
    await expect(rejected).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });
});

it('a renewal whose order is not told has the same date at every look', async () => {
  const renewed: Answer = [
    200,
    subscription('premium', { startTime: '2026-10-21T12:00:00Z' }, { latestSuccessfulOrderId: 'GPA.1..0' }),
  ];
  const dates = await Promise.all(
    [now, now + 3_600_000].map(async (time) => {
      const { observations } = await storeB.validate(
        request(),
        asking({ subscriptionsv2: renewed }, { now: () => time }),
      );
      return observations[0]?.transactions[0]?.purchaseDate;
    }),
  );
  expect(dates).toEqual([Date.parse('2026-11-21T00:00:00Z'), Date.parse('2026-11-21T00:00:00Z')]);
});

it('a product whose payment was given up was never paid', async () => {
  const given: ProductAnswer = {
    productLineItem: [{ productId: 'premium' }],
    purchaseStateContext: { purchaseState: 'CANCELLED' },
  };
  const { observations } = await storeB.validate(request('non consumable'), asking({ productsv2: [200, given] }));
  expect(observations).toMatchObject([{ transactions: [] }]);
});

describe('an acknowledgement that Google refuses', () => {
  const settle = async (responses: Readonly<Record<string, Answer>>, after = responses) => {
    const validation = await storeB.validate(request(), withSetting(responses));
    return await storeB.fulfill?.(validation, withSetting(after));
  };
  const refused: Answer = problem(400, 'invalid');
  const open: Answer = [200, subscription('premium')];
  const done: Answer = [200, subscription('premium', { acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED' })];

  it('is a success when it was done before', async () => {
    const after = { ':acknowledge': refused, subscriptionsv2: done };
    expect(await settle({ subscriptionsv2: open }, after)).toMatchObject([{ purchase: { isAcknowledged: true } }]);
  });

  it('is none when Google still waits for it', async () => {
    const responses = { ':acknowledge': refused, subscriptionsv2: open };
    await expect(settle(responses)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('is not asked for once the subscription is over', async () => {
    const over: Answer = [200, subscription('premium', { subscriptionState: 'SUBSCRIPTION_STATE_EXPIRED' })];
    expect(await settle({ ':acknowledge': refused, subscriptionsv2: over })).toEqual([]);
  });
});
