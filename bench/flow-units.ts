import pMap from 'p-map';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { BenchResult } from './bench-result.ts';
import type { MeteredService } from './metered-service.ts';
import type { MeteredCall } from './units/meter.ts';
import { invokeStreamWorker, type Sharding } from './units/stream.ts';
import { buildWriteRows, sumUsage } from './units/usage.ts';

interface Step {
  readonly step: string;
  readonly calls: readonly MeteredCall[];
}

/** The calls of one request or notification and of all workers that process its effects. */
interface Flow {
  readonly flow: string;
  readonly steps: readonly Step[];
  /** Number of requests or notifications whose stream records the workers get in one batch. Default: 1. */
  readonly batchSize?: number;
  /** Maximum write units of one request or notification. */
  readonly budget?: number;
}

/**
 * Measures the units of complete flows, workers included: one table per flow with each written item, and the totals.
 */
export async function measureFlowUnits(metered: MeteredService): Promise<BenchResult[]> {
  const flows = await collectFlows(metered);
  const totals = flows.map(({ flow, steps, batchSize = 1, budget = '' }) => {
    const { table, indexes, read, engineWrite, engineRead } = sumUsage(steps.flatMap(({ calls }) => calls));
    const perRequest = (units: number): number => Math.round((units / batchSize) * 100) / 100;
    return {
      flow,
      write: perRequest(table + indexes),
      budget,
      table: perRequest(table),
      indexes: perRequest(indexes),
      read: perRequest(read),
      'engine write': perRequest(engineWrite),
      'engine read': perRequest(engineRead),
    };
  });
  return [
    ...flows
      .filter(({ batchSize }) => batchSize === undefined)
      .map(({ flow, steps }) => ({
        title: `Write units: ${flow}`,
        rows: steps.flatMap(({ step, calls }) => buildWriteRows(step, calls)),
      })),
    { title: 'Units of complete flows without retries', rows: totals },
  ];
}

async function collectFlows(metered: MeteredService): Promise<Flow[]> {
  const { startApplicationServer } = await import('../testing/application-server.ts');
  const { startNotificationServer } = await import('../testing/notification-server.ts');
  const [appServer, notificationServer] = await Promise.all([startApplicationServer(), startNotificationServer()]);
  try {
    const keys = await createAppWithWebhook(metered, { webhook: appServer.url, notifications: notificationServer.url });
    return await runFlows(metered, keys);
  } finally {
    await Promise.all([appServer.close(), notificationServer.close()]);
  }
}

/** Creates an app with a webhook URL and with a notification URL in the emulated store. */
async function createAppWithWebhook(metered: MeteredService, urls: { webhook: string; notifications: string }) {
  const { saveWebhook } = await import('../lib/webhooks/manage-webhooks.ts');
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { service } = metered;
  const keys = await service.createApp(['store_a'], {}, 'com.example.listening');
  const settings = { urls: [urls.webhook], sandboxUrls: [], includesPassword: true };
  await saveWebhook(getService(), keys.appName, settings, { newSecret: true });
  await fetch(`${service.emulatorUrl}/control/notifications/store_a`, {
    method: 'PUT',
    body: JSON.stringify({ url: `${urls.notifications}/v3/webhook/store_a/${keys.appName}` }),
  });
  return keys;
}

type RunStep = (run: () => Promise<unknown>) => Promise<Step[]>;

/** Requests and notifications in one batch of the stream workers: a busy deployment. */
const batchSize = 100;

async function runFlows(metered: MeteredService, keys: IssuedApiKeys): Promise<Flow[]> {
  const { service, queues, meter } = metered;
  const buy = async (applicationUsername: string) =>
    await service.callControl('/purchases', {
      platform: 'store_a',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername,
    });
  /** Measures what `run` and the stream workers call. The workers get all records of `run` in one batch. */
  const measure = async (step: string, run: () => Promise<unknown>, sharding: Sharding = 'one shard for all') => {
    await waitUntilPosted(service);
    meter.takeCalls();
    await run();
    return await runStreamWorkers(metered, { step, calls: meter.takeCalls() }, sharding);
  };
  const measureRequest: RunStep = async (run) => await measure('request', run);
  // Creates the counters of the day.
  const warmUp = await buy('warm-up-user');
  await measureRequest(async () => await service.validate(keys, warmUp.validate));
  await queues.drain();

  const [purchase, otherPurchase] = [await buy('carol'), await buy('dave')];
  const validate = async () => await service.validate(keys, purchase.validate);
  const firstValidation = await measureRequest(validate);
  const repeatedValidation = await measureRequest(validate);
  const upperBound = await measure(
    'request',
    async () => await service.validate(keys, otherPurchase.validate),
    'one shard for each partition key',
  );
  await queues.drain();

  const [renewal, webhook] = await measureRenewals(metered, [purchase.id], measure);
  const batches = await runBatches(metered, { keys, buy, measure, measureRequest });
  return [
    { flow: 'validation, new purchase and new user', steps: firstValidation },
    // Each stream worker gets every record in its own batch, which is rare.
    { flow: 'its upper bound: each partition key in a shard of its own', steps: upperBound },
    { flow: 'the same receipt again', steps: repeatedValidation },
    { flow: 'notification of a renewal and its webhook', steps: [...renewal, ...webhook] },
    { flow: 'its webhook alone, taken at the first attempt', steps: webhook },
    ...batches.map((flow) => ({ ...flow, flow: `${batchSize} in one batch, each: ${flow.flow}`, batchSize })),
  ];
}

type Measure = (step: string, run: () => Promise<unknown>) => Promise<Step[]>;

/** Renews purchases. Returns the steps of the notifications and the steps of the webhooks. */
async function measureRenewals(
  { service, queues }: MeteredService,
  purchaseIds: readonly string[],
  measure: Measure,
): Promise<[renewals: Step[], webhooks: Step[]]> {
  const handleAll = async (queue: 'notifications' | 'webhooks') => {
    while ((await queues.handleOnce(queue)) > 0);
  };
  const received = await measure('receive', async () => {
    for (const id of purchaseIds) await service.callControl(`/purchases/${id}/renew`, {});
    await waitUntilPosted(service);
  });
  const processed = await measure('process-notification', async () => await handleAll('notifications'));
  const sent = await measure('send-webhook', async () => await handleAll('webhooks'));
  return [[...received, ...processed], sent];
}

interface BatchContext {
  readonly keys: IssuedApiKeys;
  /** Buys a subscription in the emulated store. */
  readonly buy: (username: string) => Promise<{ readonly id: string; readonly validate: object }>;
  readonly measure: Measure;
  readonly measureRequest: RunStep;
}

/** Measures the flows that have a budget, with the stream records of many requests in one batch. */
async function runBatches(metered: MeteredService, { keys, buy, measure, measureRequest }: BatchContext) {
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const { getCustomerPurchases } = await import('../lib/customers/contract.ts');
  const { service, queues } = metered;
  const usernames = Array.from({ length: batchSize }, (_, number) => `user-${number}`);
  const purchases = await pMap(usernames, buy, { concurrency: 1 });
  const wordedNames = usernames.map((username) => `${username}.stripe@example.com`);
  const wordedPurchases = await pMap(wordedNames, buy, { concurrency: 1 });
  const validateAll = async () => {
    for (const { validate } of purchases) await service.validate(keys, validate);
  };
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const readAll = async () => {
    for (const applicationUsername of usernames)
      await callEndpoint(getCustomerPurchases, { headers, params: { applicationUsername } });
  };
  await waitUntilPosted(service);
  // A repeated validation after more than a minute writes the check of the purchase.
  service.freezeClock();
  const validations = await measureRequest(validateAll);
  const repeated = await measureRequest(validateAll);
  const wordedValidations = await measureRequest(async () => {
    for (const { validate } of wordedPurchases) await service.validate(keys, validate);
  });
  const reads = await measureRequest(readAll);
  await service.callControl('/clock', { advance: 'PT1H' });
  const repeatedLater = await measureRequest(validateAll);
  await queues.drain();
  const ids = purchases.map(({ id }) => id);
  const [renewals, webhooks] = await measureRenewals(metered, ids, measure);
  return [
    { flow: 'validation, new purchase and new user', steps: validations, budget: 31.5 },
    // Four more for `stripe@example.com` and `example.com`: an item and an index entry each.
    { flow: 'validation, new user with two more words in the name', steps: wordedValidations, budget: 35.5 },
    { flow: 'the same receipt again, within a minute', steps: repeated, budget: 4 },
    { flow: 'the same receipt again, an hour later', steps: repeatedLater, budget: 7 },
    { flow: 'GET customer purchases', steps: reads, budget: 2.2 },
    { flow: 'notification of a renewal and its webhook', steps: [...renewals, ...webhooks], budget: 31 },
  ];
}

/** Runs the stream workers on the writes of a step, then on their own writes, until they write nothing. */
async function runStreamWorkers(metered: MeteredService, first: Step, sharding: Sharding): Promise<Step[]> {
  const steps = [first];
  for (let calls: readonly MeteredCall[] = first.calls; calls.some(({ writes }) => writes.length > 0); ) {
    const next: Step[] = [];
    for (const step of ['fan-out-webhooks', 'aggregate-statistics']) {
      await invokeStreamWorker(step, calls, sharding);
      next.push({ step, calls: metered.meter.takeCalls() });
    }
    steps.push(...next);
    calls = next.flatMap((step) => step.calls);
  }
  return steps;
}

interface NotificationDelivery {
  readonly state: string;
  readonly attempts: readonly unknown[];
}

/** Waits until the emulated store has attempted all of its notifications. */
async function waitUntilPosted({ callControl }: MeteredService['service']): Promise<void> {
  for (;;) {
    const { notifications } = (await callControl('/notifications')) as {
      notifications: readonly NotificationDelivery[];
    };
    if (!notifications.some(({ state, attempts }) => state === 'waiting' && attempts.length === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
