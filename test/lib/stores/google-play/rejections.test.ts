import { describe, expect, it } from '@jest/globals';
import { hourMs } from '../../../../lib/foundation/time.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { createManualStopwatch } from '../../../../testing/stopwatch.ts';
import {
  createGoogleContext,
  createRequest,
  expiryTime,
  now,
  type ProductResponse,
  type SubscriptionResponse,
} from './fake-google.ts';

type Response = readonly [status: number, body: object | string];
type Responses = Readonly<Record<string, Response>>;

const createError = (status: number, reason: string): Response => [
  status,
  { error: { code: status, errors: [{ reason }] } },
];

/** Creates a context with a response for each part of a URL. Other calls return 404. */
const createContext = (responses: Responses, changes: object = {}) => {
  const google = createGoogleContext({});
  return createGoogleContext(
    {},
    {
      ...changes,
      fetch: async (url, init) => {
        if (url.includes('oauth2')) return await google.fetch(url, init);
        const [status, body] =
          Object.entries(responses).find(([part]) => url.includes(part))?.[1] ?? createError(404, 'none');
        return { status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) };
      },
    },
  );
};
const createAcknowledgingContext = (responses: Responses) => {
  const { settings } = createGoogleContext({});
  return createContext(responses, { settings: { ...(settings as object), acknowledge: true } });
};

const createSubscription = (
  productId: string,
  changes: object = {},
  itemChanges: object = {},
): SubscriptionResponse => ({
  startTime: '2026-11-01T00:00:00Z',
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  acknowledgementState: 'ACKNOWLEDGEMENT_STATE_PENDING',
  lineItems: [{ productId, expiryTime, latestSuccessfulOrderId: 'GPA.1', ...itemChanges }],
  ...changes,
});

describe('validate (Google Play)', () => {
  it.each([{}, { licenseKey: 'MIIB' }])(
    'throws InternalError if a query is required and the settings have %j',
    async (keys) => {
      const settings = { packageName: 'com.example', ...keys };
      const transaction = { type: 'android-store', receipt: '{}', signature: 'abc' };
      const validation = googlePlay.validate(
        { ...createRequest(), transaction },
        createContext({}, { settings, requiresQuery: true }),
      );
      await expect(validation).rejects.toMatchObject({
        code: 'InternalError',
        message: expect.stringMatching(/^The store_b settings lack serviceAccount, .+app set-store/),
      });
    },
  );

  it.each<[string, string, Response]>([
    ['ConnectionFailed', 'an exceeded quota', createError(403, 'rateLimitExceeded')],
    ['InternalError', 'missing permissions', createError(403, 'permissionDenied')],
    ['ConnectionFailed', 'a concurrent update', createError(409, 'concurrentUpdate')],
    ['InternalError', 'an unknown package', createError(404, 'applicationNotFound')],
    ['ConnectionFailed', 'an HTML page with status 404', [404, '<html>Not Found</html>']],
    ['ConnectionFailed', 'an HTML page with status 403', [403, '<html>Forbidden</html>']],
    ['PurchaseExpired', 'a deleted purchase', createError(410, 'purchaseTokenNoLongerValid')],
    ['InvalidPayload', 'an unknown token', createError(404, 'purchaseTokenNotFound')],
    [
      'ConnectionFailed',
      'a subscription without expiration',
      [200, createSubscription('premium', {}, { expiryTime: undefined })],
    ],
  ])('throws %s for %s', async (code, _case, response) => {
    const context = createContext({ '/applications/': response });
    await expect(googlePlay.validate(createRequest(), context)).rejects.toMatchObject({ code });
  });

  it.each([
    ['the service account lacks access to packageName', createError(403, 'permissionDenied')],
    ['the service account lacks access to packageName', createError(401, 'permissionDenied')],
    ['the Google Play Android Developer API is disabled', createError(403, 'accessNotConfigured')],
    ['packageName is not found', createError(404, 'applicationNotFound')],
    ['the key of the service account is deleted, disabled or wrong', createError(401, 'authError')],
  ] as const)('names the cause of rejected settings: %s', async (reason, response) => {
    const message = `Google Play rejected the settings: ${reason}.`;
    const validation = googlePlay.validate(createRequest(), createContext({ '/applications/': response }));
    await expect(validation).rejects.toMatchObject({ code: 'InternalError', message });
  });

  it.each(['\ud800', '..', 'a b'])('rejects the malformed token %j', async (purchaseToken) => {
    const body = { ...createRequest(), transaction: { purchaseToken } };
    await expect(googlePlay.validate(body, createContext({}))).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('estimates the same date of a renewal in every query if its order is unavailable', async () => {
    const renewed: Response = [
      200,
      createSubscription('premium', { startTime: '2026-10-21T12:00:00Z' }, { latestSuccessfulOrderId: 'GPA.1..0' }),
    ];
    const dates = await Promise.all(
      [now, now + hourMs].map(async (time) => {
        const context = createContext({ subscriptionsv2: renewed }, { now: () => time });
        const { observations } = await googlePlay.validate(createRequest(), context);
        return observations[0]?.transactions[0]?.purchaseDate;
      }),
    );
    expect(dates).toEqual([Date.parse('2026-11-21T00:00:00Z'), Date.parse('2026-11-21T00:00:00Z')]);
  });

  it.each([{}, { orderId: 'GPA.2' }])('returns no transaction for a canceled pending product (%j)', async (order) => {
    const canceled: ProductResponse = {
      ...order,
      productLineItem: [{ productId: 'premium' }],
      purchaseStateContext: { purchaseState: 'CANCELLED' },
    };
    const context = createContext({ productsv2: [200, canceled] });
    const { observations } = await googlePlay.validate(createRequest('non consumable'), context);
    expect(observations).toMatchObject([{ purchase: { isAbandoned: true }, transactions: [] }]);
  });
});

describe('validate (Google Play) of a subscription that replaces another', () => {
  const createReplacementContext = (
    state: string,
    replaced: Response = [200, createSubscription('basic', {}, { latestSuccessfulOrderId: 'GPA.0..2' })],
  ) =>
    createContext({
      'tokens/token-1': [
        200,
        createSubscription('premium', {
          subscriptionState: `SUBSCRIPTION_STATE_${state}`,
          linkedPurchaseToken: 'replaced',
        }),
      ],
      'tokens/replaced': replaced,
      'GPA.0..2': [200, { total: { currencyCode: 'EUR', units: '3' }, createTime: '2026-10-15T00:00:00Z' }],
    });

  it.each(['PENDING', 'PENDING_PURCHASE_CANCELED'])(
    'does not change the replaced subscription in state %s',
    async (state) => {
      const { observations } = await googlePlay.validate(createRequest(), createReplacementContext(state));
      expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_b:token-1']);
    },
  );

  it('ends the replaced subscription at the start of the new one and keeps its payments', async () => {
    const { observations } = await googlePlay.validate(createRequest(), createReplacementContext('ACTIVE'));
    const [current, replaced] = observations;
    expect(current).toMatchObject({ replacedPurchaseId: 'store_b:replaced' });
    expect(replaced).toMatchObject({
      purchase: { endedAt: Date.parse('2026-11-01T00:00:00Z'), cancelationReason: 'System.Replaced' },
      transactions: [{ purchaseDate: Date.parse('2026-10-15T00:00:00Z'), amountMicros: 3_000_000 }],
    });
  });

  it('throws ConnectionFailed if the replaced subscription is unavailable', async () => {
    const context = createReplacementContext('ACTIVE', [503, 'down']);
    await expect(googlePlay.validate(createRequest(), context)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });
});

describe('fulfill (Google Play)', () => {
  const validateAndFulfill = async (responses: Responses, responsesOfFulfill = responses) => {
    const validation = await googlePlay.validate(createRequest(), createAcknowledgingContext(responses));
    return await googlePlay.fulfill?.(validation, createAcknowledgingContext(responsesOfFulfill));
  };
  const rejection = createError(400, 'invalid');
  const pending: Response = [200, createSubscription('premium')];
  const acknowledged: Response = [
    200,
    createSubscription('premium', { acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED' }),
  ];

  it('succeeds if the purchase is acknowledged already', async () => {
    const responsesOfFulfill = { ':acknowledge': rejection, subscriptionsv2: acknowledged };
    expect(await validateAndFulfill({ subscriptionsv2: pending }, responsesOfFulfill)).toMatchObject([
      { purchase: { isAcknowledged: true } },
    ]);
  });

  it('throws if Google rejects the call and the purchase is not acknowledged', async () => {
    const responses = { ':acknowledge': rejection, subscriptionsv2: pending };
    await expect(validateAndFulfill(responses)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('does not acknowledge an expired subscription', async () => {
    const expired: Response = [200, createSubscription('premium', { subscriptionState: 'SUBSCRIPTION_STATE_EXPIRED' })];
    expect(await validateAndFulfill({ ':acknowledge': rejection, subscriptionsv2: expired })).toEqual([]);
  });

  it('shares the time budget of the validation', async () => {
    const responses: Responses = { ':acknowledge': [204, ''], subscriptionsv2: pending };
    const stopwatch = createManualStopwatch();
    const context = { ...createAcknowledgingContext(responses), stopwatch };
    const validation = await googlePlay.validate(createRequest(), context);
    expect(validation.fulfillDeadline).toBe(18_000);
    stopwatch.advance(17_000);
    expect(await googlePlay.fulfill?.(validation, context)).toHaveLength(1);
    stopwatch.advance(1_000);
    await expect(googlePlay.fulfill?.(validation, context)).rejects.toMatchObject({
      code: 'ConnectionFailed',
      message: 'Google Play is unavailable. Try again later.',
    });
  });
});

describe('refresh (Google Play)', () => {
  it('throws InternalError for a malformed refresh token', async () => {
    await expect(googlePlay.refresh?.({ kind: 'subscription' }, createContext({}))).rejects.toMatchObject({
      code: 'InternalError',
    });
  });
});
