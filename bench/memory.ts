import { randomUUID } from 'node:crypto';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createDeliveryIfAbsent } from '../lib/webhooks/delivery-table.ts';
import type { BenchResult } from './bench-result.ts';
import { assumptions } from './cost/assumptions.ts';
import { type CostService, requireNoFailures, withCostService } from './cost/cost-service.ts';
import { createApp, startNotificationServer } from './cost/run-operations.ts';
import { listFunctionSettings } from './cost/template.ts';
import { loadPurchases, username } from './customers.ts';

/** Messages of one batch, which a worker handles concurrently. */
const batchSize = 10;

/** A weekly subscription of ten years. */
const renewals = 520;
const ownedPurchases = 20_000;

/** About the largest message of a queue. */
const maxMessageBytes = 256_000;

/** Batches for each instance, after which the heap has reached its size. */
const rounds = 8;

/** What a worker of a queue uses in the worst case. */
export interface MemoryUse {
  readonly functionName: string;
  readonly memoryMb: number;
  readonly peakMb: number;
  /** Longest processor time of a batch with the share of a processor that the memory gives. */
  readonly busySeconds: number;
}

/**
 * Measures the memory of the workers of the queues with full batches: notifications and refreshes of subscriptions with
 * ten years of weekly payments, notifications of the largest size, and webhooks of a customer with 20,000 purchases.
 */
export const measureMemory = async (): Promise<MemoryUse[]> =>
  await withCostService(
    async (cost) => {
      const server = await startNotificationServer(cost);
      try {
        const { appName } = await createApp(cost, server.url);
        const notify = createNotifier(cost, `${server.url}/v3/webhook/store_a/${appName}`);
        await cost.service.setNotificationUrl('store_a', null);
        const ids: string[] = [];
        for (let number = 0; number < batchSize; number++) ids.push(await buyAndRenew(cost));
        const refreshes = ids.map((id) => JSON.stringify({ appName, purchaseId: `store_a:${id}` }));
        // The first notifications create the purchases, and the refreshes add their earlier payments.
        await handleBatches(cost, 'workers/process-notification', async () => await notify(ids), 1);
        return [
          await handleBatches(cost, 'workers/refresh-purchase', async () => refreshes),
          await handleBatches(cost, 'workers/process-notification', async () => await notify(ids)),
          await handleBatches(cost, 'workers/send-webhook', await createWebhooks(cost, appName)),
        ];
      } finally {
        await server.close();
      }
    },
    { limitsHeap: true },
  );

export const benchMemory = async (): Promise<BenchResult> => ({
  title: 'Memory of the workers of the queues in the worst case, in MB',
  rows: (await measureMemory()).map(({ functionName, memoryMb, peakMb, busySeconds }) => ({
    function: functionName,
    memory: memoryMb,
    peak: Math.round(peakMb),
    '%': Math.round((100 * peakMb) / memoryMb),
    'busy s': Number(busySeconds.toFixed(1)),
  })),
});

async function buyAndRenew({ service: { callControl } }: CostService): Promise<string> {
  const order = { platform: 'store_a', productId: 'weekly', type: 'paid subscription' };
  const { id } = await callControl('/purchases', { ...order, applicationUsername: `user-${randomUUID()}` });
  for (let number = 0; number < renewals; number++) await callControl(`/purchases/${id}/renew`, {});
  return id;
}

/** Passes batches to a worker, one after the other, and returns what its process used. */
async function handleBatches(
  { host, template }: CostService,
  functionName: string,
  createBodies: () => Promise<readonly string[]>,
  count = rounds,
): Promise<MemoryUse> {
  const memoryMb = listFunctionSettings(template).get(functionName)?.memoryMb ?? Number.NaN;
  let [peakMb, cpuMs] = [0, 0];
  for (let round = 0; round < count; round++) {
    const bodies = await createBodies();
    if (bodies.length !== batchSize) throw new Error(`${functionName} gets ${bodies.length} messages.`);
    const Records = bodies.map((body) => ({ messageId: randomUUID(), receiptHandle: '', body }));
    const invoked = await host.invoke(functionName, { Records });
    requireNoFailures(functionName, invoked.result);
    peakMb = invoked.peakMb;
    cpuMs = Math.max(cpuMs, invoked.invocation.cpuMs);
  }
  return { functionName, memoryMb, peakMb, busySeconds: (cpuMs / 1000) * (assumptions.vcpuMemoryMb.value / memoryMb) };
}

/** Returns a function that renews the subscriptions and returns the messages of their notifications, padded. */
function createNotifier({ service }: CostService, url: string) {
  const client = new SQSClient({ endpoint: process.env.AWS_ENDPOINT_URL_SQS ?? '' });
  const QueueUrl = process.env.NOTIFICATIONS_QUEUE_URL;
  return async (ids: readonly string[]): Promise<string[]> => {
    await service.setNotificationUrl('store_a', url);
    for (const id of ids) {
      await service.callControl(`/purchases/${id}/renew`, {});
      await service.waitUntilNotified();
    }
    await service.setNotificationUrl('store_a', null);
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: batchSize }),
    );
    for (const { ReceiptHandle } of Messages) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    return Messages.map(({ Body = '' }) => pad(Body));
  };
}

function pad(text: string): string {
  const message = JSON.parse(text);
  message.notification.payload.padding = 'x'.repeat(maxMessageBytes - text.length - '"padding":"",'.length);
  return JSON.stringify(message);
}

/** Loads the customer, and returns a function that creates webhooks and returns their messages. */
async function createWebhooks({ webhookUrl: url }: CostService, appName: string) {
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { buildDelivery } = await import('../lib/webhooks/delivery.ts');
  await loadPurchases(appName, ownedPurchases);
  return async (): Promise<string[]> => {
    const createdAt = Date.now();
    const notifications = Array.from({ length: batchSize }, () => ({
      id: randomUUID(),
      reason: 'RENEWED' as const,
      date: createdAt,
    }));
    const deliveries = notifications.map((notification) =>
      buildDelivery({ appName, type: 'purchases.updated', url, username, notification, createdAt }),
    );
    for (const delivery of deliveries) await createDeliveryIfAbsent(getService(), delivery);
    return deliveries.map(({ deliveryId }) => JSON.stringify({ appName, deliveryId, failedAttempts: 0 }));
  };
}
