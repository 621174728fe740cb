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
  /** Maximum write units of the flow. */
  readonly budget?: number;
}

/** Measures the units of complete flows, workers included: one table per flow with each written item, and the totals. */
export async function measureFlowUnits(metered: MeteredService): Promise<BenchResult[]> {
  const flows = await collectFlows(metered);
  const totals = flows.map(({ flow, steps, budget = '' }) => {
    const { table, indexes, read, engineWrite, engineRead } = sumUsage(steps.flatMap(({ calls }) => calls));
    return {
      flow,
      write: table + indexes,
      budget,
      table,
      indexes,
      read,
      'engine write': engineWrite,
      'engine read': engineRead,
    };
  });
  return [
    ...flows.map(({ flow, steps }) => ({
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
  const { setWebhook } = await import('../lib/webhooks/manage-webhooks.ts');
  const { deps } = await import('../lib/deps.ts');
  const { service } = metered;
  const keys = await service.createApp(['store_a'], {}, 'com.example.listening');
  const settings = { urls: [urls.webhook], sandboxUrls: [], includesPassword: true };
  await setWebhook(keys.appName, settings, { newSecret: true, deps: deps() });
  await fetch(`${service.emulatorUrl}/control/notifications/store_a`, {
    method: 'PUT',
    body: JSON.stringify({ url: `${urls.notifications}/v3/webhook/store_a/${keys.appName}` }),
  });
  return keys;
}

async function runFlows(metered: MeteredService, keys: IssuedApiKeys): Promise<Flow[]> {
  const { service, queues, meter } = metered;
  const buy = async (applicationUsername: string) =>
    await service.callControl('/purchases', {
      platform: 'store_a',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername,
    });
  const measureValidation = async (body: object, sharding: Sharding): Promise<Step[]> => {
    await waitUntilPosted(service);
    meter.takeCalls();
    await service.validate(keys, body);
    return await runStreamWorkers(metered, { step: 'request', calls: meter.takeCalls() }, sharding);
  };
  // Creates the counters of the day.
  const warmUp = await buy('warm-up-user');
  await measureValidation(warmUp.validate, 'one shard for all');
  await queues.drain();

  const [purchase, otherPurchase] = [await buy('carol'), await buy('dave')];
  const firstValidation = await measureValidation(purchase.validate, 'one shard for all');
  const repeatedValidation = await measureValidation(purchase.validate, 'one shard for all');
  const upperBound = await measureValidation(otherPurchase.validate, 'one shard for each partition key');
  await queues.drain();

  await waitUntilPosted(service);
  meter.takeCalls();
  await service.callControl(`/purchases/${purchase.id}/renew`, {});
  await waitUntilPosted(service);
  const received = { step: 'receive', calls: meter.takeCalls() };
  await queues.handleOnce('notifications');
  const processed = { step: 'process-notification', calls: meter.takeCalls() };
  const fannedOut = await runStreamWorkers(metered, processed, 'one shard for all');
  await queues.handleOnce('webhooks');
  const sent = await runStreamWorkers(metered, { step: 'send-webhook', calls: meter.takeCalls() }, 'one shard for all');
  return [
    { flow: 'validation, new purchase and new user', steps: firstValidation, budget: 30 },
    // Each stream worker gets every record in its own batch, which is rare. The budget applies to the flow above.
    { flow: 'its upper bound: each partition key in a shard of its own', steps: upperBound },
    { flow: 'the same receipt again', steps: repeatedValidation, budget: 7 },
    { flow: 'notification of a renewal and its webhook', steps: [received, ...fannedOut, ...sent] },
    { flow: 'its webhook alone, taken at the first attempt', steps: sent },
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
