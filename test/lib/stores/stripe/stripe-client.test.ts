import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { dayMs, secondMs } from '../../../../lib/foundation/time.ts';
import type { StoreFetchOptions, StoreResponse } from '../../../../lib/stores/store-context.ts';
import { apiVersion, callStripe, createStripeClient } from '../../../../lib/stores/stripe/stripe-client.ts';
import {
  fetchCharge,
  fetchFailureDates,
  fetchPrices,
  listCreditNotes,
  listDisputes,
  listPaymentRecords,
  listProducts,
} from '../../../../lib/stores/stripe/stripe-queries.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';
import { givenCharge, givenCreditNote, givenInvoice, givenRefund } from './stripe-fixtures.ts';

const settings = { secretKey: 'sk_test_of_the_account' };

/** Creates a client whose calls all receive this response, or the response that `body` returns for a URL. */
function createClient(status: number | ((url: URL) => number), body: unknown) {
  const calls: { url: string; init: StoreFetchOptions }[] = [];
  const fetch = async (url: string, init: StoreFetchOptions = {}): Promise<StoreResponse> => {
    calls.push({ url, init });
    const content = typeof body === 'function' ? body(new URL(url)) : body;
    return {
      status: typeof status === 'function' ? status(new URL(url)) : status,
      headers: { 'request-id': 'req_1' },
      text: typeof content === 'string' ? content : JSON.stringify(content),
    };
  };
  return { stripe: createStripeClient({ settings, fetch, stopwatch: stoppedStopwatch }), calls };
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

  it('limits each call to 6 s, whatever the service clock shows', async () => {
    const { stripe, calls } = createClient(200, { object: 'list', data: [], has_more: false, url: '/v1/prices' });
    const realNow = Date.now;
    try {
      await stripe.prices.list();
      // The emulator moves the service clock.
      Date.now = () => realNow() + dayMs;
      await stripe.prices.list();
    } finally {
      Date.now = realNow;
    }
    for (const { init } of calls) {
      expect(init.timeoutMs).toBeGreaterThan(secondMs);
      expect(init.timeoutMs).toBeLessThanOrEqual(6_000);
    }
  });
});

describe('lists of more than one page', () => {
  const disputes = Array.from({ length: 150 }, (_, index) => ({
    id: `dp_${index}`,
    object: 'dispute',
    status: index === 149 ? 'lost' : 'won',
    created: index,
    charge: 'ch_3',
  }));
  const refunds = disputes.map(({ created }) => ({
    ...givenRefund({ id: `re_${created}`, created }),
    object: 'refund',
  }));
  const toPage = (objects: readonly { id: string }[], { searchParams }: URL) => {
    const start = objects.findIndex(({ id }) => id === searchParams.get('starting_after')) + 1;
    const data = objects.slice(start, start + 100);
    return { object: 'list', data, has_more: start + 100 < objects.length, url: '/v1/list' };
  };

  it('include the disputes after the first 100 of a charge', async () => {
    const { stripe } = createClient(200, (url: URL) => toPage(disputes, url));
    const listed = await listDisputes(stripe, [givenCharge({ disputed: true })]);
    expect(listed.filter(({ status }) => status === 'lost')).toHaveLength(1);
  });

  it('include the refunds after the first ten of a charge', async () => {
    const charge = { ...givenCharge(), refunds: { data: refunds.slice(0, 10), has_more: true } };
    const { stripe } = createClient(200, (url: URL) =>
      url.pathname.endsWith('/refunds') ? toPage(refunds, url) : charge,
    );
    expect((await fetchCharge(stripe, 'ch_3')).refunds.data).toHaveLength(150);
  });

  const credited = givenInvoice({ post_payment_credit_notes_amount: 100 });

  it('leave out the dates of failed debits and the credit notes that the key must not read', async () => {
    const error = { type: 'invalid_request_error', message: 'The key does not have the permissions' };
    const { stripe } = createClient(403, { error });
    const failed = givenCharge({ failure_balance_transaction: 'txn_1' });
    expect(await fetchFailureDates(stripe, [failed])).toEqual(new Map());
    expect(await listCreditNotes(stripe, [credited])).toEqual([]);
  });

  const outside = givenInvoice({
    payments: {
      data: ['pr_1', 'pr_2'].map((id) => ({ payment: { payment_record: id } })),
    },
  });

  it('leave out a payment record that the account does not have, and no other one', async () => {
    const record = { id: 'pr_2', object: 'payment_record', amount: { value: 999 }, amount_refunded: { value: 999 } };
    const error = { type: 'invalid_request_error', code: 'resource_missing', message: 'No such payment record' };
    const { stripe } = createClient(
      ({ pathname }: URL) => (pathname.endsWith('pr_1') ? 404 : 200),
      ({ pathname }: URL) => (pathname.endsWith('pr_1') ? { error } : record),
    );
    expect(await listPaymentRecords(stripe, [outside])).toMatchObject([{ id: 'pr_2' }]);
  });

  it.each([
    ['a malformed request', 400, 'Received unknown parameter: expnd'],
    ['an API version without the object', 404, 'Unrecognized request URL (GET: /v1/payment_records/pr_1).'],
  ])('are not empty after %s', async (_title, status, message) => {
    const { stripe } = createClient(status, { error: { type: 'invalid_request_error', message } });
    const failed = givenCharge({ failure_balance_transaction: 'txn_1' });
    await expect(fetchFailureDates(stripe, [failed])).rejects.toThrow(message);
    await expect(listCreditNotes(stripe, [credited])).rejects.toThrow(message);
    await expect(listPaymentRecords(stripe, [outside])).rejects.toThrow(message);
    await expect(fetchPrices(stripe, ['gold'])).rejects.toThrow(message);
  });

  it('include all credit notes of the invoices that have some', async () => {
    const notes = disputes.map(({ created }) => givenCreditNote({ id: `cn_${created}` }));
    const { stripe, calls } = createClient(200, (url: URL) => toPage(notes, url));
    expect(await listCreditNotes(stripe, [credited, givenInvoice()])).toHaveLength(150);
    expect(calls).toHaveLength(2);
  });

  it('lack the price of a plan that was deleted, whose subscriptions go on', async () => {
    const error = { type: 'invalid_request_error', code: 'resource_missing', message: "No such price: 'gold'" };
    expect(await fetchPrices(createClient(404, { error }).stripe, ['gold'])).toEqual(new Map());
    const denied = { error: { type: 'invalid_request_error', message: 'missing permission' } };
    await expect(fetchPrices(createClient(403, denied).stripe, ['gold'])).rejects.toThrow('missing permission');
  });

  it('include all products of more than 100 ids', async () => {
    const { stripe, calls } = createClient(200, ({ searchParams }: URL) => {
      const ids = [...searchParams].flatMap(([name, value]) => (name.startsWith('ids') ? [value] : []));
      const data = ids.map((id) => ({
        id,
        object: 'product',
        active: true,
        name: id,
        description: null,
        metadata: {},
      }));
      return { object: 'list', data, has_more: false, url: '/v1/products' };
    });
    const ids = Array.from({ length: 250 }, (_, index) => `prod_${index}`);
    expect([...(await listProducts(stripe, ids)).keys()].sort()).toEqual([...ids].sort());
    expect(calls).toHaveLength(3);
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
