import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Contract } from '../../lib/api/contract.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { splitIntoChunks } from '../../lib/foundation/batches.ts';
import { dayMs, secondMs } from '../../lib/foundation/time.ts';
import { startHttpServer } from '../../local/http-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { buildProxyEvent, toProxyEvent } from '../../testing/proxy-event.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { selectStreamRecords } from '../units/stream.ts';
import { assumptions } from './assumptions.ts';
import { type CostService, requireNoFailures } from './cost-service.ts';
import type { Invocation } from './function-host.ts';
import { listStreamSettings, type StreamSettings } from './template.ts';

/** Number of requests that share an invocation of a stream worker: one, or as many as arrive at the steady rate. */
export type Load = 'quiet' | 'steady';
const loads: readonly Load[] = ['quiet', 'steady'];

/** The invocations that operations caused, workers included. */
export interface MeasuredOperation {
  readonly name: string;
  readonly load: Load;
  /** Number of operations. */
  readonly count: number;
  readonly invocations: readonly Invocation[];
}

/** Number of operations before the measurement, and at each load. */
const warmUpCount = 10;
const measuredCounts: Readonly<Record<Load, number>> = { quiet: 10, steady: 40 };
const maxCount = Math.max(warmUpCount, ...Object.values(measuredCounts));

interface Bench extends CostService {
  readonly keys: IssuedApiKeys;
  readonly streams: ReadonlyMap<string, StreamSettings>;
}

/** Measures the operations whose name `isMeasured` selects, by default all, at each load. */
export const measureOperations = async (
  cost: CostService,
  isMeasured: (name: string) => boolean = () => true,
): Promise<MeasuredOperation[]> =>
  await withRequests(cost, async (requests, bench) => {
    const measured: MeasuredOperation[] = [];
    for (const [name, prepare] of Object.entries(requests))
      if (isMeasured(name)) measured.push(...(await measureRequests(bench, name, prepare)));
    if (isMeasured('notification with its webhook')) measured.push(...(await measureNotifications(bench)));
    if (isMeasured('refresh')) measured.push(...(await measureRefreshes(bench)));
    return measured;
  });

/** API requests by name. Each member prepares a request and returns the function that sends it. */
export type Requests = Readonly<Record<string, () => Promise<() => Promise<void>>>>;

/** Creates the app of the bench, runs `use` with its requests, and closes its notification server. */
export async function withRequests<T>(
  cost: CostService,
  use: (requests: Requests, bench: Bench) => Promise<T>,
): Promise<T> {
  const server = await startNotificationServer(cost);
  try {
    const keys = await createApp(cost, server.url);
    const bench: Bench = { ...cost, keys, streams: listStreamSettings(cost.template) };
    const requests: Requests = {
      'validation, new': async () => await prepareValidation(bench),
      'validation, repeated at once': async () => await prepareRepeatedValidation(bench, 0),
      'validation, repeated later': async () => await prepareRepeatedValidation(bench, dayMs),
      'validation, rejected': async () => async () => await validate(bench, rejectedReceipt),
      ...(await listReads(bench)),
      ...(await listUnrecordedReads(bench)),
      ...(await listCreditOperations(bench)),
    };
    return await use(requests, bench);
  } finally {
    await server.close();
  }
}

const rejectedReceipt = {
  id: 'com.example.listening',
  type: 'application',
  transaction: { type: 'ios-store', appStoreReceipt: 'MII=' },
};

/** The notification endpoint of the App Store, instead of API Gateway. */
export const startNotificationServer = async ({ invoke }: CostService) =>
  await startHttpServer(async (request, response) => {
    const event = await toProxyEvent(request);
    const { statusCode, body } = (await invoke('notifications/receive-notification', event)) as APIGatewayProxyResult;
    response.writeHead(statusCode).end(body);
  });

/** Creates an app of the App Store with a webhook URL. */
export async function createApp(
  { service, webhookUrl }: CostService,
  notificationsUrl: string,
): Promise<IssuedApiKeys> {
  const { saveWebhook } = await import('../../lib/webhooks/manage-webhooks.ts');
  const { getService } = await import('../../lib/foundation/get-service.ts');
  const keys = await service.createApp(['store_a'], {}, 'com.example.listening');
  const settings = { urls: [webhookUrl], sandboxUrls: [], includesPassword: true };
  await saveWebhook(getService(), keys.appName, settings, { newSecret: true });
  await service.setNotificationUrl('store_a', `${notificationsUrl}/v3/webhook/store_a/${keys.appName}`);
  return keys;
}

let userCount = 0;

interface Bought {
  readonly id: string;
  readonly validate: object;
}

const subscription = { productId: 'premium', type: 'paid subscription' };

async function buy(
  { service }: Bench,
  product: { readonly productId: string; readonly type: string } = subscription,
  applicationUsername = `user-${++userCount}`,
): Promise<Bought> {
  return await service.callControl('/purchases', { platform: 'store_a', ...product, applicationUsername });
}

async function callApi({ invoke }: Bench, functionName: string, event: object): Promise<APIGatewayProxyResult> {
  const result = (await invoke(functionName, event)) as APIGatewayProxyResult;
  if (result.statusCode !== 200) throw new Error(`${functionName}: ${result.statusCode} ${result.body}`);
  return result;
}

async function validate(bench: Bench, body: object): Promise<void> {
  const { appName, publicKey } = bench.keys;
  const headers = { ...buildBasicAuth(appName, publicKey), 'content-type': 'application/json' };
  const event = buildProxyEvent({ httpMethod: 'POST', path: '/v1/validate', headers, body: JSON.stringify(body) });
  const { body: text } = await callApi(bench, 'validation/validate-receipt', event);
  if (JSON.parse(text).ok !== (body !== rejectedReceipt)) throw new Error(`validate-receipt: ${text}`);
}

/**
 * Buys a subscription. The returned function validates it for the first time, before the store's notification is
 * processed.
 */
async function prepareValidation(bench: Bench): Promise<() => Promise<void>> {
  const { validate: body } = await buy(bench);
  await bench.service.waitUntilNotified();
  return async () => await validate(bench, body);
}

/**
 * Buys and validates a subscription. The returned function validates it again, `ageMs` after the last observation:
 * within a minute, the same observation is not written again (lib/purchases/purchase-change.ts).
 */
async function prepareRepeatedValidation(bench: Bench, ageMs: number): Promise<() => Promise<void>> {
  const bought = await buy(bench);
  await bench.service.waitUntilNotified();
  await validate(bench, bought.validate);
  await settle(bench);
  return async () => {
    await changePurchase(bench, bought, () => ({ asOf: Date.now() - ageMs }));
    await validate(bench, bought.validate);
  };
}

const reader = { applicationUsername: 'reader' };

/** Creates a customer with three purchases. Lists the plain reads about it. */
async function listReads(bench: Bench) {
  const api = await import('../../lib/customers/contract.ts');
  const { getPurchase } = await import('../../lib/purchases/contract.ts');
  const purchaseId = await createReader(bench);
  return {
    'read, customer': buildRead(bench, api.getCustomer, reader),
    'read, purchases of a customer': buildRead(bench, api.getCustomerPurchases, reader),
    'read, subscription of a customer': buildRead(bench, api.getCustomerSubscription, reader),
    'read, transactions of a customer': buildRead(bench, api.getCustomerTransactions, reader),
    'read, purchase': buildRead(bench, getPurchase, { purchaseId }),
  };
}

/** Creates an app that does not record successful reads. Lists a read of it. */
async function listUnrecordedReads(bench: Bench) {
  const { changeSettings } = await import('../../lib/apps/manage-apps.ts');
  const { getService } = await import('../../lib/foundation/get-service.ts');
  const { getCustomerPurchases } = await import('../../lib/customers/contract.ts');
  const keys = await bench.service.createApp(['store_a'], {}, 'com.example.unrecorded');
  await changeSettings(getService(), keys.appName, { recordsReads: false });
  const unrecorded = { ...bench, keys };
  await createReader(unrecorded, 'unrecorded-reader');
  const customer = { applicationUsername: 'unrecorded-reader' };
  return {
    'read without an event, purchases of a customer': buildRead(unrecorded, getCustomerPurchases, customer),
  };
}

/** Creates an app whose consumable gives credits. Lists its validations and the changes of credits. */
async function listCreditOperations(bench: Bench): Promise<Requests> {
  const { saveCatalogue } = await import('../../lib/apps/manage-apps.ts');
  const { captureCredits, giveCredits, spendCredits } = await import('../../lib/credits/contract.ts');
  const { getService } = await import('../../lib/foundation/get-service.ts');
  const keys = await bench.service.createApp(['store_a'], {}, 'com.example.credits');
  const products = { coins: { type: 'consumable', credits: { coins: 100 } }, premium: { type: 'paid subscription' } };
  await saveCatalogue(getService(), keys.appName, products as Parameters<typeof saveCatalogue>[2]);
  const own = { ...bench, keys };
  const prepare = async (productId: string, type: string) => {
    const { validate: body } = await buy(own, { productId, type });
    await bench.service.waitUntilNotified();
    return async () => await validate(own, body);
  };
  const change = async (contract: Contract, params: Readonly<Record<string, string>>, body: object) => {
    const request = { credit: 'coins', idempotencyKey: 'order', reason: 'A song', ...body };
    const { body: text } = await callApi(own, ...buildCall(own, contract, params, request));
    return JSON.parse(text) as { readonly holdId: string };
  };
  const createCustomer = async () => {
    const params = { applicationUsername: `user-${++userCount}` };
    await change(giveCredits, params, { amount: 100, idempotencyKey: 'gift' });
    return params;
  };
  return {
    'credits, validation of another product': async () => await prepare('premium', 'paid subscription'),
    'credits, validation that gives them': async () => await prepare('coins', 'consumable'),
    'credits, give': async () => {
      const params = await createCustomer();
      return async () => void (await change(giveCredits, params, { amount: 10 }));
    },
    'credits, spend': async () => {
      const params = await createCustomer();
      return async () => void (await change(spendCredits, params, { amount: 10 }));
    },
    'credits, capture': async () => {
      const params = await createCustomer();
      const { holdId } = await change(spendCredits, params, { amount: 10, hold: true });
      return async () => void (await change(captureCredits, { ...params, holdId }, { amount: 5 }));
    },
  };
}

/** Creates a customer with a subscription and two other purchases. Returns the id of the subscription. */
async function createReader(bench: Bench, username = reader.applicationUsername): Promise<string> {
  const bought: Bought[] = [];
  for (const product of [
    subscription,
    { productId: 'coins', type: 'consumable' },
    { productId: 'gems', type: 'consumable' },
  ]) {
    const purchase = await buy(bench, product, username);
    await bench.service.waitUntilNotified();
    await validate(bench, purchase.validate);
    bought.push(purchase);
  }
  return `store_a:${bought[0]?.id}`;
}

/** Builds a request with the secret key that needs no preparation. */
const buildRead =
  (bench: Bench, contract: Contract, params: Readonly<Record<string, string>>) => async () => async () =>
    void (await callApi(bench, ...buildCall(bench, contract, params)));

/** Returns the function of a contract, and an event with the secret key. */
function buildCall(
  { keys: { appName, secretKey } }: Bench,
  { area, id, method, path: template }: Contract,
  params: Readonly<Record<string, string>>,
  body?: object,
): [functionName: string, event: object] {
  const path = template.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
  const headers = { ...buildBasicAuth(appName, secretKey), 'content-type': 'application/json' };
  const event = { httpMethod: method, path, headers, ...(body && { body: JSON.stringify(body) }) };
  return [`${area}/${id}`, buildProxyEvent(event)];
}

/** Measures an API request with its stream workers. `prepare` returns the request. */
async function measureRequests(
  bench: Bench,
  name: string,
  prepare: () => Promise<() => Promise<void>>,
): Promise<MeasuredOperation[]> {
  return await measureAtEachLoad(name, async (count, load) => {
    await settle(bench);
    const runs: (() => Promise<void>)[] = [];
    for (let number = 0; number < count; number++) runs.push(await prepare());
    bench.takeInvocations();
    const requests: Invocation[][] = [];
    for (const run of runs) {
      await run();
      requests.push(bench.takeInvocations());
    }
    return { [name]: [...requests.flat(), ...(await runStreamWorkers(bench, requests, load))] };
  });
}

/** Measures the renewal of a subscription: its notification, its webhook, and the webhook alone. */
async function measureNotifications(bench: Bench): Promise<MeasuredOperation[]> {
  const purchases: Bought[] = [];
  for (let number = 0; number < maxCount; number++) {
    const bought = await buy(bench);
    await bench.service.waitUntilNotified();
    await validate(bench, bought.validate);
    purchases.push(bought);
  }
  const [notification, webhook] = ['notification with its webhook', 'webhook alone'];
  const names = [notification, webhook];
  return await measureAtEachLoad(names, async (count, load) => {
    await settle(bench);
    const processed: Invocation[][] = [];
    for (let number = 0; number < count; number++) {
      await bench.service.callControl(`/purchases/${purchases[number]?.id}/renew`, {});
      await bench.service.waitUntilNotified();
      await bench.queues.handleOnce('notifications', assumptions.messagesPerBatch.value);
      processed.push(bench.takeInvocations());
    }
    const fannedOut = await runStreamWorkers(bench, processed, load);
    const sent: Invocation[][] = [];
    while ((await bench.queues.handleOnce('webhooks', assumptions.messagesPerBatch.value)) > 0)
      sent.push(bench.takeInvocations());
    if (sent.length !== count) throw new Error(`${sent.length} webhooks of ${count} notifications were sent.`);
    const webhooks = [...sent.flat(), ...(await runStreamWorkers(bench, sent, load))];
    return { [notification]: [...processed.flat(), ...fannedOut, ...webhooks], [webhook]: webhooks };
  });
}

/** Measures the scheduled refresh of a purchase that has not changed: lease, message, query of the store. */
async function measureRefreshes(bench: Bench): Promise<MeasuredOperation[]> {
  const name = 'refresh';
  const purchases: Bought[] = [];
  for (let number = 0; number < maxCount; number++) {
    const bought = await buy(bench);
    await bench.service.waitUntilNotified();
    await validate(bench, bought.validate);
    purchases.push(bought);
  }
  return await measureAtEachLoad(name, async (count, load) => {
    // Writes the stream markers of the minute, which do not belong to a refresh.
    await bench.invoke('workers/enqueue-due-items', {});
    await settle(bench);
    await makeDue(bench, purchases.slice(0, count));
    bench.takeInvocations();
    await bench.invoke('workers/enqueue-due-items', {});
    const leased = bench.takeInvocations();
    const refreshed: Invocation[][] = [];
    const handleBatch = async () => await bench.queues.handleOnce('refreshes', assumptions.messagesPerBatch.value);
    // The service delays the messages over the rate of refreshes of one app at a store.
    while (refreshed.length < count) {
      await waitFor('a message of a refresh', handleBatch);
      refreshed.push(bench.takeInvocations());
    }
    if ((await handleBatch()) > 0) throw new Error(`More than ${count} purchases were refreshed.`);
    return { [name]: [...leased, ...refreshed.flat(), ...(await runStreamWorkers(bench, refreshed, load))] };
  });
}

/** Moves the due time of the purchases, whose next refresh is an interval check, into the past. */
async function makeDue(bench: Bench, purchases: readonly Bought[]): Promise<void> {
  const { moveDueSortKey } = await import('../../lib/foundation/keys.ts');
  for (const bought of purchases)
    await changePurchase(bench, bought, ({ dueSk }) => ({
      dueSk: moveDueSortKey(String(dueSk), Date.now() - secondMs),
    }));
}

/** Replaces attributes of a stored purchase, without a measured call. */
async function changePurchase(
  { keys }: Bench,
  { id }: Bought,
  change: (item: Readonly<Record<string, unknown>>) => object,
): Promise<void> {
  const { getService } = await import('../../lib/foundation/get-service.ts');
  const { purchaseKey } = await import('../../lib/foundation/keys.ts');
  const item = await getService().table.get(purchaseKey(keys.appName, `store_a:${id}`));
  if (!item) throw new Error(`The purchase ${id} is not found.`);
  await getService().table.batchPut([{ ...item, ...change(item) }]);
}

/** Runs the work that earlier operations left, and discards its invocations. */
async function settle(bench: Bench): Promise<void> {
  await bench.service.waitUntilNotified();
  await bench.queues.drain();
  await runStreamWorkers(bench, [bench.takeInvocations()], 'steady');
  await bench.queues.drain();
  bench.takeInvocations();
}

/** Runs operations at each load, first without a record of their CPU time. */
async function measureAtEachLoad(
  names: string | readonly string[],
  run: (count: number, load: Load) => Promise<Readonly<Record<string, readonly Invocation[]>>>,
): Promise<MeasuredOperation[]> {
  await run(warmUpCount, 'steady');
  const measured: MeasuredOperation[] = [];
  for (const load of loads) {
    const count = measuredCounts[load];
    const invocations = await run(count, load);
    for (const name of [names].flat()) measured.push({ name, load, count, invocations: invocations[name] ?? [] });
  }
  return measured;
}

/** Number of requests whose stream records a worker gets in one batch. */
function countRequestsPerBatch({ batchingWindowMs }: StreamSettings, load: Load): number {
  if (load === 'quiet') return 1;
  const intervalMs = Math.max(batchingWindowMs, assumptions.streamPollMs.value);
  return Math.max(1, Math.floor((assumptions.steadyRequestsPerSecond.value * intervalMs) / secondMs));
}

/** Runs the stream workers on the writes of each request, then on their own writes, until they write nothing. */
async function runStreamWorkers(
  { streams, invoke, takeInvocations }: Bench,
  requests: readonly (readonly Invocation[])[],
  load: Load,
): Promise<Invocation[]> {
  const runRound = async (sources: readonly (readonly Invocation[])[], areShared: boolean): Promise<Invocation[]> => {
    for (const [functionName, settings] of streams) {
      const worker = functionName.replace('workers/', '');
      for (const group of splitIntoChunks(sources, areShared ? countRequestsPerBatch(settings, load) : 1)) {
        const records = selectStreamRecords(
          worker,
          group.flat().flatMap(({ tableCalls }) => tableCalls),
        );
        for (const Records of splitIntoChunks(records, settings.batchSize))
          requireNoFailures(functionName, await invoke(functionName, { Records, shardId: 'shard' }));
      }
    }
    return takeInvocations();
  };
  const invocations: Invocation[] = [];
  let round = await runRound(requests, true);
  while (round.length > 0) {
    invocations.push(...round);
    // The writes of a worker's batch arrive in one batch.
    round = await runRound(
      round.map((invocation) => [invocation]),
      false,
    );
  }
  return invocations;
}
