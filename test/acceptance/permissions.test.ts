import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contracts } from '../../lib/api/index.ts';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, callLocalService, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { waitFor } from '../../testing/wait-for.ts';

let service: LocalService;
beforeAll(async () => {
  service = await startLocal();
});
afterAll(async () => await service?.close());

const control = async (path: string, body: object): Promise<Json> => await callLocalControl(service, path, body);

const callService = async (path: string, body?: object): Promise<Json> =>
  (await callLocalService(service, path, body)).body;

const products = {
  store_a: 'premium',
  store_b: 'premium',
  store_c: '9NBLGGH5W123',
  processor_a: 'premium',
  service_processor_a: 'premium',
  processor_b: 'monthly',
} as const;

/** Buys and validates a subscription of each store, cancels it and resumes it. */
async function buyEverywhere(): Promise<void> {
  for (const [platform, productId] of Object.entries(products)) {
    const order = { platform, productId, type: 'paid subscription', applicationUsername: 'ann', autoRenew: true };
    const { id, validate } = await control('/purchases', order);
    expect(await callService('/v1/validate', validate)).toMatchObject({ ok: true });
    for (const action of ['cancel', 'uncancel']) await control(`/purchases/${id}/${action}`, {});
  }
}

/** Returns values for the parameters of endpoint paths. */
async function listPathParams(): Promise<Readonly<Record<string, string>>> {
  const [{ rows: purchases }, { rows: transactions }, { rows: events }] = await Promise.all([
    callService('/v3/purchases'),
    callService('/v3/transactions'),
    callService('/v3/events'),
  ]);
  return {
    applicationUsername: 'ann',
    appName: service.appName,
    purchaseId: purchases[0].purchaseId,
    transactionId: transactions.at(-1).transactionId,
    id: events[0].eventId,
    tag: 'ann',
    platform: 'store_a',
  };
}

async function callEveryEndpoint(): Promise<void> {
  const params = await listPathParams();
  const offerId = (await callService('/v3/processor_a/prices')).products[0].offers[0].id;
  const pages = { successUrl: 'https://app.example.com', cancelUrl: 'https://app.example.com' };
  const { accessToken } = await callService('/v3/processor_a/checkout', {
    offerId,
    applicationUsername: 'ann',
    ...pages,
  });
  const bodies: Readonly<Record<string, object>> = {
    'add-customer-purchase': { purchaseId: params.purchaseId },
    'repeat-webhook': { reqId: params.id },
    'replay-deliveries': { startdate: '2020-01-01', enddate: '2020-01-02' },
    'create-portal': { id: 'ann', accessToken, returnUrl: 'https://app.example.com' },
    'change-plan': { id: 'ann', accessToken, offerId },
    'create-client-token': { applicationUsername: 'ann' },
  };
  for (const { id, method, path } of contracts) {
    const url = path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? name));
    const query = `include_notifications=true&receipts=true&accessToken=${accessToken}`;
    await callService(`${url}?${query}`, method === 'POST' ? (bodies[id] ?? {}) : undefined);
  }
  for (const list of ['customers', 'purchases', 'transactions'])
    await callService(`/v3/${list}?startdate=2020-01-01&applicationUsername=ann`);
}

/** Lists the functions that have not used a permission. `getversion` and `getconsole` need none. */
const listUnusedFunctions = (): string[] =>
  [...service.usageByFunction]
    .filter(([id, { allowed }]) => allowed.size === 0 && !/getversion|getconsole/.test(id))
    .map(([id]) => id);
const isEmpty = (names: readonly string[]): boolean => names.length === 0;

/** Waits until every function has run and all queues are empty. */
async function waitUntilProcessed(): Promise<void> {
  await waitFor('calls of all functions', listUnusedFunctions, isEmpty);
  await waitUntilQueuesEmpty(service);
}

describe('IAM policies of the functions', () => {
  it('allow every call that the functions make', async () => {
    await buyEverywhere();
    await callEveryEndpoint();
    for (const advance of ['PT1H', 'P1D', 'P32D']) await control('/clock', { advance });
    await waitUntilProcessed();
    expect(listUnusedFunctions()).toEqual([]);
    expect([...service.usageByFunction].flatMap(([, { denied }]) => [...denied])).toEqual([]);
  });

  it("allow an endpoint that only reads to count rejected credentials, with the gateway's address of the client", async () => {
    const headers = buildBasicAuth(service.appName, 'a-wrong-key');
    const call = async () => await fetch(`${service.baseUrl}/v3/customers/ann/subscription`, { headers });
    // A block requires updates of the bucket in the table.
    await waitFor('the block', async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, call));
      return responses.find(({ status }) => status === 429)?.headers.get('retry-after');
    });
    const [usage] = [...service.usageByFunction].filter(([id]) => /getcustomersubscription/.test(id));
    expect([...(usage?.[1].allowed ?? [])]).toContainEqual(expect.stringContaining('UpdateItem'));
    expect(usage?.[1].denied.size).toBe(0);
    expect(await callService('/v3/customers/ann/subscription')).toMatchObject({ applicationUsername: 'ann' });
  });
});
