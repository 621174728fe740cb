import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { contracts } from '../../lib/api/index.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { eventKey } from '../../lib/db/keys.ts';
import { deps } from '../../lib/deps.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from '../../testing/call.ts';
import { createObservation, createTransaction, createUniqueName, dayMs } from '../../testing/given.ts';
import { aggregatePartitions, givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

/** An application, and what it has that the other has not. */
interface Side {
  readonly keys: IssuedApiKeys;
  /** In every text that an application can choose. */
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
    // The name of the one begins like that of the other.
    {
      keys: await service.createApp(['processor_a'], {}, `${name}-x`),
      canary: 'CANARY-two',
      dollars: 7_777,
      payments: 3,
    },
  ];
  for (const side of sides) await fill(side);
});
afterAll(() => service.close());

const now = Date.now();
const shared = { applicationUsername: 'ann', id: 'event-1', reqId: 'request-1', tag: 'ann' };

/** Registers and records the same ids for either application. */
async function fill(side: Side): Promise<void> {
  const { keys, canary } = side;
  for (const username of ['ann', canary]) await givenPurchase(keys.appName, username, subscription(side));
  await givenPurchase(
    keys.appName,
    'ann',
    subscription(side, { purchaseId: 'processor_a:sub_1', platform: 'processor_a' }),
  );
  await givenPurchase(keys.appName, 'ann', subscription(side, { purchaseId: `store_a:${canary}` }));
  await givenEvent(side, shared.id);
  await givenEvent(side, `event-${canary}`);
  const list = [{ type: 'consumable', id: 'coins', title: canary, platform: 'processor_a', offers: [] }];
  await deps().priceLists.save({ appName: keys.appName, platform: 'processor_a', fetchedAt: now }, list);
}

function subscription({ canary, dollars, payments }: Side, state: Partial<Purchase> = {}) {
  const { purchase, ...look } = createObservation({
    ...{ purchaseDate: now, expirationDate: now + 30 * dayMs, discountId: canary, ...state },
  });
  // Only one of the purchases is paid for, so that sums are known.
  const isPaid = purchase.purchaseId === 'store_a:1';
  const transactions = Array.from({ length: isPaid ? payments : 1 }, (_, number) =>
    createTransaction(purchase, {
      ...{ transactionId: `${purchase.purchaseId}-${number}`, offerId: `${purchase.productId}#${canary}` },
      amountMicros: isPaid ? dollars * 1_000_000 : 0,
    }),
  );
  return { ...look, purchase, transactions, refreshToken: { originalTransactionId: canary } };
}

async function givenEvent({ keys, canary }: Side, eventId: string): Promise<void> {
  const recorder = createEventRecorder({ type: 'receipt.validated', date: now, reqId: shared.reqId, eventId });
  recorder.setUser(shared.applicationUsername);
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

interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

const since = { startdate: new Date(now - dayMs).toISOString() };
const today = new Date(now).toISOString().slice(0, 10);
const ann = { params: shared };
const event = { params: shared };
const whole = { query: { receipts: 'true' } };
const purchase = { params: { purchaseId: 'store_a:1' } };
const tags = ['ann', 'request-1', 'error', 'store_a:1', 'store_a:1-0', 'store_a:monthly', 'ann-token', 'apple:1'];

/** How each GET is asked for something that both applications have. */
const asks: Readonly<Record<string, (side: Side) => readonly Asked[]>> = {
  'list-customers': () => [{}, { query: { applicationUsername: 'ann' } }, { query: { skip: '1' } }],
  'get-customer': () => [ann],
  'get-customer-purchases': () => [ann],
  'get-customer-subscription': () => [ann],
  'get-customer-transactions': () => [ann],
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
  'get-stats-v2': () => [{}, { query: { startdate: today } }],
  'get-app-stats': ({ keys }) => [{ params: { appName: keys.appName } }],
  'list-events': () => [{}, { query: { ...since, limit: '1000' } }],
  'search-events': () => tags.map((tag) => ({ params: { tag } })),
  'get-event': () => [event, { ...event, ...whole }],
  'get-event-analysis': () => [event, { ...event, ...whole }],
  'get-event-raw': () => [event],
  'get-prices': () => [{}],
  'get-processor-purchases': () => [{ query: { applicationUsername: 'ann' } }],
};

const gets = contracts.filter(({ method, keyLevel }) => method === 'GET' && keyLevel !== 'none');
const named = (list: readonly Contract[]) => list.map((contract) => [contract.id, contract] as const);

/** The answers at the path of the contract and at each of its other paths. */
async function answersOf(
  { keys }: Pick<Side, 'keys'>,
  contract: Contract,
  { params = {}, query }: Asked,
): Promise<CallResult[]> {
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const responses = [];
  for (const template of [contract.path, ...contract.aliases]) {
    const path = template.replace(/:(\w+)/g, (_all, param: string) => encodeURIComponent(params[param] ?? ''));
    responses.push(await callEndpoint(contract, { headers, path, ...(query && { query }) }));
  }
  return responses;
}

/** What only answers to this application can hold. */
const tracesOf = ({ keys, canary, dollars, payments }: Side): string[] => [
  canary,
  `"${keys.appName}"`,
  `:${dollars}`,
  `:${dollars * payments}`,
  // Of the purchases that are not paid for there is one transaction each.
  `"thisMonth":${payments + 2},`,
  `"lastMonth":${payments + 2},`,
];

const tracesIn = ({ body }: CallResult, side: Side): string[] =>
  tracesOf(side).filter((trace) => JSON.stringify(body).includes(trace));

describe('two applications that share every id', () => {
  it('are compared in every GET that asks for a key', () => {
    expect(Object.keys(asks).sort()).toEqual(gets.map(({ id }) => id).sort());
  });

  it.each(named(gets))('are each told what is their own, and nothing of the other, by %s', async (id, contract) => {
    for (const [own, other] of [sides, sides.toReversed() as [Side, Side]]) {
      for (const asked of asks[id]?.(own) ?? []) {
        for (const response of await answersOf(own, contract, asked)) {
          expect(response.status).toBe(200);
          expect(tracesIn(response, own)).not.toEqual([]);
          expect(tracesIn(response, other)).toEqual([]);
        }
      }
    }
  });

  it.each(named(gets.filter(({ params }) => params)))(
    'are answered alike by %s about what only the other has, and what nobody has',
    async (_id, contract) => {
      const asker = { keys: await service.createApp([]) };
      const about = async (word: string, appName: string) => {
        const params = {
          ...{ applicationUsername: word, tag: word, id: `event-${word}`, appName },
          ...{ purchaseId: `store_a:${word}`, transactionId: `store_a:${word}-0` },
        };
        const [first] = await answersOf(asker, contract, { params });
        return [first?.status, JSON.stringify(first?.body).replaceAll(word, 'it')];
      };
      for (const { canary, keys } of sides)
        expect(await about(canary, keys.appName)).toEqual(await about(`no-${canary}`, 'no-application'));
    },
  );

  it('open nothing of each other with their tokens', async () => {
    const [own, other] = sides;
    const contract = gets.find(({ id }) => id === 'get-processor-purchases');
    if (!contract) throw new Error('there is no such contract');
    const accessToken = await deps().accessTokens.issue(other.keys.appName, { platform: 'processor_a' }, now);
    for (const response of await answersOf(own, contract, { query: { accessToken } }))
      expect(response).toMatchObject({ status: 403, body: { ok: false } });
  });
});
