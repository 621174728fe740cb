import { expect, it, test } from '@jest/globals';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { callStripe, createStripeClient } from '../../../../lib/stores/processor-a/stripe-client.ts';
import type { StoreRequest, StoreResponse } from '../../../../lib/stores/store-context.ts';

const settings = { secretKey: 'sk_test_of_the_account' };

/** The client on a processor that gives this answer; every call takes `callMs`. */
function clientWith(status: number, body: unknown, { callMs = 0 } = {}) {
  const calls: { url: string; init: StoreRequest }[] = [];
  let clock = 1_000_000;
  const fetch = async (url: string, init: StoreRequest = {}): Promise<StoreResponse> => {
    calls.push({ url, init });
    clock += callMs;
    return {
      status,
      headers: new Headers({ 'request-id': 'req_1' }),
      text: typeof body === 'string' ? body : JSON.stringify(body),
    };
  };
  return { stripe: createStripeClient({ settings, fetch, now: () => clock }), calls };
}

it('asks the real host in form parameters, with the key and the version of the API', async () => {
  const { stripe, calls } = clientWith(200, { id: 'cs_1', object: 'checkout.session' });
  await stripe.checkout.sessions.create({ mode: 'payment', line_items: [{ price: 'price_1', quantity: 1 }] });
  expect(calls).toHaveLength(1);
  expect(calls[0]).toMatchObject({
    url: 'https://api.stripe.com/v1/checkout/sessions',
    init: {
      method: 'POST',
      body: 'mode=payment&line_items[0][price]=price_1&line_items[0][quantity]=1',
      headers: {
        Authorization: 'Bearer sk_test_of_the_account',
        'Content-Type': 'application/x-www-form-urlencoded',
        'Stripe-Version': '2026-10-28.endive',
      },
    },
  });
});

it('gives all calls of a look together no more time than their caller waits', async () => {
  const { stripe, calls } = clientWith(
    200,
    { object: 'list', data: [], has_more: false, url: '/v1/prices' },
    { callMs: 5_000 },
  );
  for (let call = 0; call < 3; call++) await stripe.prices.list();
  expect(calls.map(({ init }) => init.timeoutMs)).toEqual([6_000, 6_000, 2_000]);
});

test.each<[string, number, unknown, string]>([
  [
    'a key that is none',
    401,
    { error: { type: 'invalid_request_error', message: 'Invalid API Key' } },
    'InternalError',
  ],
  [
    'a key without the right',
    403,
    { error: { type: 'invalid_request_error', message: 'No permission' } },
    'InternalError',
  ],
  [
    'an unknown id',
    404,
    { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such price' } },
    'InvalidPayload',
  ],
  [
    'a request that it refuses',
    400,
    { error: { type: 'invalid_request_error', message: 'Refused' } },
    'InvalidPayload',
  ],
  [
    'a card that is declined',
    402,
    { error: { type: 'card_error', code: 'card_declined', message: 'Declined' } },
    'InvalidPayload',
  ],
  ['the same operation at once', 400, { error: { type: 'idempotency_error', message: 'In use' } }, 'Conflict'],
  [
    'a rate limit',
    429,
    { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many' } },
    'ConnectionFailed',
  ],
  ['an outage', 500, { error: { type: 'api_error', message: 'Unknown' } }, 'ConnectionFailed'],
  ['an outage of what stands before it', 503, '<html>Service Unavailable</html>', 'ConnectionFailed'],
  ['a page instead of an answer', 200, '<html>We will be back</html>', 'ConnectionFailed'],
])('%s is told as what it is', async (_what, status, body, code) => {
  const { stripe, calls } = clientWith(status, body);
  const failure = await callStripe(() => stripe.prices.retrieve('price_1')).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServiceError);
  expect(failure).toMatchObject({ code });
  expect(String((failure as ServiceError).message)).not.toContain('sk_test');
  expect(calls).toHaveLength(1);
});

it('lets what is no answer of the processor pass as it is', async () => {
  const failure = new ServiceError('DatabaseError', 'The database could not be reached.');
  await expect(callStripe(async () => await Promise.reject(failure))).rejects.toBe(failure);
});
