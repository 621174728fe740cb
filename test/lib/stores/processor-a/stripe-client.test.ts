import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { apiVersion, callStripe, createStripeClient } from '../../../../lib/stores/processor-a/stripe-client.ts';
import type { StoreRequest, StoreResponse } from '../../../../lib/stores/store-context.ts';

const settings = { secretKey: 'sk_test_of_the_account' };

/** Creates a client whose calls all receive this response. Each call advances the clock by `callMs`. */
function createClient(status: number, body: unknown, { callMs = 0 } = {}) {
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

describe('createStripeClient', () => {
  it('sends form parameters to api.stripe.com with the key and the API version', async () => {
    const { stripe, calls } = createClient(200, { id: 'cs_1', object: 'checkout.session' });
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
          'Stripe-Version': apiVersion,
        },
      },
    });
  });

  it('limits all calls of an operation to 12 s', async () => {
    const { stripe, calls } = createClient(
      200,
      { object: 'list', data: [], has_more: false, url: '/v1/prices' },
      { callMs: 5_000 },
    );
    for (let call = 0; call < 3; call++) await stripe.prices.list();
    expect(calls.map(({ init }) => init.timeoutMs)).toEqual([6_000, 6_000, 2_000]);
  });
});

describe('callStripe', () => {
  it.each<[string, number, unknown, string]>([
    ['an invalid key', 401, { error: { type: 'invalid_request_error', message: 'Invalid API Key' } }, 'InternalError'],
    [
      'a key without the permission',
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
    ['a rejected request', 400, { error: { type: 'invalid_request_error', message: 'Refused' } }, 'InvalidPayload'],
    [
      'a declined card',
      402,
      { error: { type: 'card_error', code: 'card_declined', message: 'Declined' } },
      'InvalidPayload',
    ],
    [
      'a concurrent request with the same idempotency key',
      400,
      { error: { type: 'idempotency_error', message: 'In use' } },
      'Conflict',
    ],
    [
      'a rate limit',
      429,
      { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many' } },
      'ConnectionFailed',
    ],
    ['an outage', 500, { error: { type: 'api_error', message: 'Unknown' } }, 'ConnectionFailed'],
    ['an HTML response of a gateway', 503, '<html>Service Unavailable</html>', 'ConnectionFailed'],
    ['an HTML page with status 200', 200, '<html>We will be back</html>', 'ConnectionFailed'],
  ])('translates %s to the matching error code', async (_case, status, body, code) => {
    const { stripe, calls } = createClient(status, body);
    const failure = await callStripe(() => stripe.prices.retrieve('price_1')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ code });
    expect(String((failure as ServiceError).message)).not.toContain('sk_test');
    expect(calls).toHaveLength(1);
  });

  it('does not change other errors', async () => {
    const failure = new ServiceError('DatabaseError', 'The database could not be reached.');
    await expect(callStripe(async () => await Promise.reject(failure))).rejects.toBe(failure);
  });
});
