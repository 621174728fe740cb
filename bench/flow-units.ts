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

/** Everything that one thing leads to, worker by worker. */
interface Flow {
  readonly flow: string;
  readonly steps: readonly Step[];
  /** Write units that it may cost: see the design's budgets. */
  readonly budget?: number;
}

/** Units of whole flows, by what is written, and their totals: with what the workers of the stream and queues do. */
export async function measureFlowUnits(metered: MeteredService): Promise<BenchResult[]> {
  const flows = await run(metered);
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
    { title: 'Units of whole flows, when nothing has to be done again', rows: totals },
  ];
}

async function run(metered: MeteredService): Promise<Flow[]> {
  const { startApplicationServer } = await import('../testing/application-server.ts');
  const { startNotificationServer } = await import('../testing/notification-server.ts');
  const [application, hooks] = await Promise.all([startApplicationServer(), startNotificationServer()]);
  try {
    const keys = await createAppWithWebhook(metered, { webhook: application.url, notifications: hooks.url });
    return await runFlows(metered, keys);
  } finally {
    await Promise.all([application.close(), hooks.close()]);
  }
}

/** An application that hears of its purchases, and whose counters of the day are there. */
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
  const warmUp = await buy('anybody');
  await measureValidation(warmUp.validate, 'one shard for all');
  await queues.drain();

  const [bought, alone] = [await buy('carol'), await buy('dave')];
  const first = await measureValidation(bought.validate, 'one shard for all');
  const again = await measureValidation(bought.validate, 'one shard for all');
  const shards = await measureValidation(alone.validate, 'one shard for each partition key');
  await queues.drain();

  await waitUntilPosted(service);
  meter.takeCalls();
  await service.callControl(`/purchases/${bought.id}/renew`, {});
  await waitUntilPosted(service);
  const received = { step: 'receive', calls: meter.takeCalls() };
  await queues.handleOnce('notifications');
  const processed = { step: 'process-notification', calls: meter.takeCalls() };
  const told = await runStreamWorkers(metered, processed, 'one shard for all');
  await queues.handleOnce('webhooks');
  const sent = await runStreamWorkers(metered, { step: 'send-webhook', calls: meter.takeCalls() }, 'one shard for all');
  return [
    { flow: 'validation, new purchase and new user', steps: first, budget: 30 },
    // The workers of the stream meet every record alone, as hardly ever happens; the budget is of the flow before.
    { flow: 'its upper bound: each partition key in a shard of its own', steps: shards },
    { flow: 'the same receipt again', steps: again, budget: 7 },
    { flow: 'notification of a renewal and its webhook', steps: [received, ...told, ...sent] },
    { flow: 'its webhook alone, taken at the first attempt', steps: sent },
  ];
}

/** The step and what the workers of the stream make of it; what they write is shown to them as well. */
async function runStreamWorkers(metered: MeteredService, first: Step, sharding: Sharding): Promise<Step[]> {
  const steps = [first];
  for (let shown: readonly MeteredCall[] = first.calls; shown.some(({ writes }) => writes.length > 0); ) {
    const next: Step[] = [];
    for (const step of ['fan-out-webhooks', 'aggregate-statistics']) {
      await invokeStreamWorker(step, shown, sharding);
      next.push({ step, calls: metered.meter.takeCalls() });
    }
    steps.push(...next);
    shown = next.flatMap(({ calls }) => calls);
  }
  return steps;
}

interface NotificationDelivery {
  readonly state: string;
  readonly attempts: readonly unknown[];
}

/** Waits until the emulated store has posted all that it has to post now. */
async function waitUntilPosted({ callControl }: MeteredService['service']): Promise<void> {
  for (;;) {
    const { notifications } = (await callControl('/notifications')) as {
      notifications: readonly NotificationDelivery[];
    };
    if (!notifications.some(({ state, attempts }) => state === 'waiting' && attempts.length === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
