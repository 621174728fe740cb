import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { contracts } from '../../lib/api/index.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { eventKey } from '../../lib/db/keys.ts';
import { deps } from '../../lib/deps.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import { dayMs } from '../../lib/shared/time.ts';
import type { WebhookDelivery } from '../../lib/webhooks/delivery.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from '../../testing/call.ts';
import { createObservation, createTransaction, createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions, givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

/** An app with data that the compared app does not have. */
interface Side {
  readonly keys: IssuedApiKeys;
  /** Part of every text that the app can choose. */
  readonly canary: string;
  readonly dollars: number;
  readonly payments: number;
}

let service: TestService;
let sides: readonly [Side, Side];
const name = createUniqueName();

beforeAll(async () => {
  service = await startTestService();
  sides = [
    { keys: await service.createApp(['processor_a'], {}, name), canary: 'CANARY-one', dollars: 1_111, payments: 2 },
    // The first name is a prefix of the second name.
    {
      keys: await service.createApp(['processor_a'], {}, `${name}-x`),
      canary: 'CANARY-two',
      dollars: 7_777,
      payments: 3,
    },
  ];
  for (const side of sides) await givenData(side);
});
afterAll(() => service.close());

const now = Date.now();
const sharedIds = { applicationUsername: 'ann', id: 'event-1', reqId: 'request-1', tag: 'ann' };

/** Records data with the same ids for each app. */
async function givenData(side: Side): Promise<void> {
  const { keys, canary } = side;
  for (const username of ['ann', canary]) await givenPurchase(keys.appName, username, createSubscription(side));
  await givenPurchase(
    keys.appName,
    'ann',
    createSubscription(side, { purchaseId: 'processor_a:sub_1', platform: 'processor_a' }),
  );
  await givenPurchase(keys.appName, 'ann', createSubscription(side, { purchaseId: `store_a:${canary}` }));
  await givenEvent(side, sharedIds.id);
  await givenEvent(side, `event-${canary}`);
  await givenDelivery(side, sharedIds.id);
  await givenDelivery(side, `event-${canary}`);
  const list = [{ type: 'consumable', id: 'coins', title: canary, platform: 'processor_a', offers: [] }];
  await deps().priceLists.save({ appName: keys.appName, platform: 'processor_a', fetchedAt: now }, list);
}

function createSubscription({ canary, dollars, payments }: Side, state: Partial<Purchase> = {}) {
  const { purchase, ...observation } = createObservation({
    ...{ purchaseDate: now, expirationDate: now + 30 * dayMs, discountId: canary, ...state },
  });
  // Only one purchase has an amount, so that the expected sums are simple.
  const isPaid = purchase.purchaseId === 'store_a:1';
  const transactions = Array.from({ length: isPaid ? payments : 1 }, (_, number) =>
    createTransaction(purchase, {
      ...{ transactionId: `${purchase.purchaseId}-${number}`, offerId: `${purchase.productId}#${canary}` },
      amountMicros: isPaid ? dollars * 1_000_000 : 0,
    }),
  );
  return { ...observation, purchase, transactions, refreshToken: { originalTransactionId: canary } };
}

async function givenDelivery({ keys, canary }: Side, deliveryId: string): Promise<void> {
  const notification = { id: sharedIds.reqId, reason: 'RENEWED', date: now, productId: canary } as const;
  const delivery: WebhookDelivery = {
    ...{ appName: keys.appName, deliveryId, type: 'purchases.updated', url: 'https://example.com' },
    ...{ username: 'ann', notification, state: 'pending', failedAttempts: 0, createdAt: now },
  };
  await deps().deliveries.createIfAbsent(delivery);
  const dead = { ...delivery, state: 'dead', failedAttempts: 1, failureReason: canary } as const;
  await deps().deliveries.replaceIfUnchanged(delivery, dead, now);
}

async function givenEvent({ keys, canary }: Side, eventId: string): Promise<void> {
  const recorder = createEventRecorder({ type: 'receipt.validated', date: now, reqId: sharedIds.reqId, eventId });
  recorder.setUser(sharedIds.applicationUsername);
  recorder.addTag('store_a:1', '_P');
  recorder.addTag('store_a:1-0', '_T');
  recorder.addTag('store_a:monthly', '_I');
  recorder.addTag('ann-token', 'AT');
  recorder.addContent({ products: [{ id: canary }], purchases: [{ purchaseId: 'store_a:1', productId: canary }] });
  const { event, raw } = recorder.finish({
    request: { method: 'POST', route: '/v1/validate', body: { id: canary, type: 'consumable' } },
    outcome: { status: 200, ok: false, message: canary },
    response: { ok: false, message: canary },
  });
  await deps().events.save(keys.appName, event, raw);
  await aggregatePartitions([eventKey(keys.appName, eventId).pk]);
}

interface RequestOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

const since = { startdate: new Date(now - dayMs).toISOString() };
const today = new Date(now).toISOString().slice(0, 10);
const customer = { params: sharedIds };
const event = { params: sharedIds };
const withReceipts = { query: { receipts: 'true' } };
const purchase = { params: { purchaseId: 'store_a:1' } };
const tags = ['ann', 'request-1', 'error', 'store_a:1', 'store_a:1-0', 'store_a:monthly', 'ann-token', 'apple:1'];

/** Requests by contract id, for ids that both apps have. */
const requests: Readonly<Record<string, (side: Side) => readonly RequestOptions[]>> = {
  'list-customers': () => [{}, { query: { applicationUsername: 'ann' } }, { query: { skip: '1' } }],
  'get-customer': () => [customer],
  'get-customer-purchases': () => [customer],
  'get-customer-subscription': () => [customer],
  'get-customer-transactions': () => [customer],
  'list-purchases': () => [{}, { query: since }, { query: { include_notifications: 'true', limit: '1' } }],
  'get-purchase': () => [purchase, { ...purchase, query: { include_notifications: 'true' } }],
  'get-refresh-token': () => [purchase],
  'list-transactions': () => [{}, { query: since }, { query: { include_notifications: 'true', skip: '1' } }],
  'get-transaction': () => [{ params: { transactionId: 'store_a:1-0' } }],
  'get-stats': () => [
    {},
    { query: { startdate: today, include_notifications: 'true' } },
    { query: { currency: 'usd' } },
  ],
  'get-stats-breakdown': () => [{}, { query: { by: 'platform' } }, { query: { by: 'product', interval: 'range' } }],
  'get-stats-v2': () => [{}, { query: { startdate: today } }],
  'get-app-stats': ({ keys }) => [{ params: { appName: keys.appName } }],
  'list-events': () => [{}, { query: { ...since, limit: '1000' } }],
  'search-events': () => tags.map((tag) => ({ params: { tag } })),
  'get-event': () => [event, { ...event, ...withReceipts }],
  'get-event-analysis': () => [event, { ...event, ...withReceipts }],
  'get-event-raw': () => [event],
  'list-deliveries': () => [{}, { query: { state: 'dead' } }],
  'get-delivery': () => [event],
  'get-customer-timeline': () => [customer],
  'get-purchase-owners': () => [purchase],
  'get-purchase-timeline': () => [purchase],
  'get-due': () => [{}],
  search: () => ['store_a:1', '1', 'store_a:1-0'].map((q) => ({ query: { q } })),
  'list-stores': () => [{}],
  'get-app': () => [{}],
  'get-prices': () => [{}],
  'get-processor-purchases': () => [{ query: { applicationUsername: 'ann' } }],
};

const getContracts = contracts.filter(({ method, keyLevel }) => method === 'GET' && keyLevel !== 'none');
const withIds = (list: readonly Contract[]) => list.map((contract) => [contract.id, contract] as const);

/** Calls the path of the contract and its aliases. */
async function callAllPaths(
  { keys }: Pick<Side, 'keys'>,
  contract: Contract,
  { params = {}, query }: RequestOptions,
): Promise<CallResult[]> {
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const responses: CallResult[] = [];
  for (const template of [contract.path, ...contract.aliases]) {
    const path = template.replace(/:(\w+)/g, (_all, param: string) => encodeURIComponent(params[param] ?? ''));
    responses.push(await callEndpoint(contract, { headers, path, ...(query && { query }) }));
  }
  return responses;
}

/** Lists texts that only responses to this app can contain. */
const listTraces = ({ keys, canary, dollars, payments }: Side): string[] => [
  canary,
  `"${keys.appName}"`,
  `:${dollars}`,
  `:${dollars * payments}`,
  // The two purchases without an amount have one transaction each.
  `"thisMonth":${payments + 2},`,
  `"lastMonth":${payments + 2},`,
];

const findTraces = ({ body }: CallResult, side: Side): string[] =>
  listTraces(side).filter((trace) => JSON.stringify(body).includes(trace));

describe('two apps with the same ids', () => {
  it('cover every GET endpoint that requires a key', () => {
    expect(Object.keys(requests).sort()).toEqual(getContracts.map(({ id }) => id).sort());
  });

  it.each(withIds(getContracts))('receive only their own data from %s', async (id, contract) => {
    for (const [own, other] of [sides, sides.toReversed() as [Side, Side]]) {
      for (const options of requests[id]?.(own) ?? []) {
        for (const response of await callAllPaths(own, contract, options)) {
          expect(response.status).toBe(200);
          expect(findTraces(response, own)).not.toEqual([]);
          expect(findTraces(response, other)).toEqual([]);
        }
      }
    }
  });

  it.each(withIds(getContracts.filter(({ params }) => params)))(
    'receive the same response from %s for data of the other app and for unknown ids',
    async (_id, contract) => {
      const client = { keys: await service.createApp([]) };
      const callFor = async (id: string, appName: string) => {
        const params = {
          ...{ applicationUsername: id, tag: id, id: `event-${id}`, appName },
          ...{ purchaseId: `store_a:${id}`, transactionId: `store_a:${id}-0` },
        };
        const [first] = await callAllPaths(client, contract, { params });
        return [first?.status, JSON.stringify(first?.body).replaceAll(id, 'it')];
      };
      for (const { canary, keys } of sides)
        expect(await callFor(canary, keys.appName)).toEqual(await callFor(`no-${canary}`, 'no-app'));
    },
  );

  it('reject access tokens of the other app', async () => {
    const [own, other] = sides;
    const contract = getContracts.find(({ id }) => id === 'get-processor-purchases');
    if (!contract) throw new Error('The contract is not found.');
    const accessToken = await deps().accessTokens.issue(other.keys.appName, { platform: 'processor_a' }, now);
    for (const response of await callAllPaths(own, contract, { query: { accessToken } }))
      expect(response).toMatchObject({ status: 403, body: { ok: false } });
  });
});
