import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contracts } from '../../lib/api/index.ts';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';

let service: LocalService;
beforeAll(async () => {
  service = await startLocal();
}, 60_000);
afterAll(async () => await service?.close());

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Json = Readonly<Record<string, any>>;

async function control(path: string, body: object): Promise<Json> {
  const response = await fetch(`${service.emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) });
  return (await response.json()) as Json;
}

async function ask(path: string, body?: object): Promise<Json> {
  const headers = buildBasicAuth(service.appName, service.secretKey);
  const request = body ? { method: 'POST', body: JSON.stringify(body), headers } : { headers };
  return (await (await fetch(service.baseUrl + path, request)).json()) as Json;
}

const products = {
  store_a: 'premium',
  store_b: 'premium',
  store_c: '9NBLGGH5W123',
  processor_a: 'premium',
  service_processor_a: 'premium',
  processor_b: 'monthly',
} as const;

/** A subscription of each store, validated by its buyer, changed and paid back. */
async function buyEverywhere(): Promise<void> {
  for (const [platform, productId] of Object.entries(products)) {
    const order = { platform, productId, type: 'paid subscription', applicationUsername: 'ann', autoRenew: true };
    const { id, validate } = await control('/purchases', order);
    expect(await ask('/v1/validate', validate)).toMatchObject({ ok: true });
    for (const action of ['cancel', 'uncancel']) await control(`/purchases/${id}/${action}`, {});
  }
}

/** What the paths of endpoints name. */
async function named(): Promise<Readonly<Record<string, string>>> {
  const [{ rows: purchases }, { rows: transactions }, { rows: events }] = await Promise.all([
    ask('/v3/purchases'),
    ask('/v3/transactions'),
    ask('/v3/events'),
  ]);
  return {
    applicationUsername: 'ann',
    appName: service.appName,
    purchaseId: purchases[0].purchaseId,
    transactionId: transactions.at(-1).transactionId,
    id: events[0].eventId,
    tag: 'ann',
  };
}

async function askEverything(): Promise<void> {
  const names = await named();
  const offer = (await ask('/v3/processor_a/prices')).products[0].offers[0].id;
  const pages = { successUrl: 'https://app.example.com', cancelUrl: 'https://app.example.com' };
  const { accessToken } = await ask('/v3/processor_a/checkout', {
    offerId: offer,
    applicationUsername: 'ann',
    ...pages,
  });
  const bodies: Readonly<Record<string, object>> = {
    'add-customer-purchase': { purchaseId: names.purchaseId },
    'repeat-webhook': { reqId: names.id },
    'create-portal': { id: 'ann', accessToken, returnUrl: 'https://app.example.com' },
    'change-plan': { id: 'ann', accessToken, offerId: offer },
    'create-client-token': { applicationUsername: 'ann' },
  };
  for (const { id, method, path } of contracts) {
    const filled = path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(names[name] ?? name));
    const query = `include_notifications=true&receipts=true&accessToken=${accessToken}`;
    await ask(`${filled}?${query}`, method === 'POST' ? (bodies[id] ?? {}) : undefined);
  }
  for (const list of ['customers', 'purchases', 'transactions'])
    await ask(`/v3/${list}?startdate=2020-01-01&applicationUsername=ann`);
}

const calls = () => [...service.usageByFunction].map(([id, { allowed }]) => [id, allowed.size] as const);
const idle = () => calls().flatMap(([id, count]) => (count === 0 ? [id] : []));

/** Until every function has had something to do, and no worker has any more. */
async function workedOff(): Promise<void> {
  for (let waited = 0; waited < 60 && idle().some((id) => !isQuiet(id)); waited++) await sleep(1_000);
  while (Object.keys(await service.countQueuedMessages()).length > 0) await sleep(200);
}

/** Functions that reach nothing of the account. */
const isQuiet = (id: string): boolean => /getversion/.test(id);
const sleep = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

describe('the functions of the stack', () => {
  it('are allowed everything that they do, each of them', async () => {
    await buyEverywhere();
    await askEverything();
    for (const advance of ['PT1H', 'P1D', 'P32D']) await control('/clock', { advance });
    await workedOff();
    expect(idle().filter((id) => !isQuiet(id))).toEqual([]);
    expect([...service.usageByFunction].flatMap(([, { denied }]) => [...denied])).toEqual([]);
  }, 180_000);
});
