import { describe, expect, it } from '@jest/globals';
import type { App } from '../../../lib/apps/app.ts';
import { deliveryKey } from '../../../lib/foundation/keys.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { checkWebhooks } from '../../../lib/health/check-webhooks.ts';
import { buildDelivery, type WebhookDelivery } from '../../../lib/webhooks/delivery.ts';
import {
  createDeliveryIfAbsent,
  disableWebhookUrl,
  replaceDelivery,
  saveUrlHealth,
} from '../../../lib/webhooks/delivery-table.ts';
import type { WebhookUrlHealth } from '../../../lib/webhooks/url-health.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

const url = 'https://example.com/purchases';
const app = { name: 'my-app', webhookSettings: { urls: [url], sandboxUrls: [], includesPassword: false } };

const failed = (state: WebhookDelivery['state'], count: number): WebhookDelivery[] =>
  Array.from({ length: count }, (_, index) => ({
    ...buildDelivery({
      appName: 'my-app',
      type: 'purchases.updated',
      url,
      createdAt: 0,
      notification: { id: `n-${index}`, reason: 'RENEWED', date: 0 },
    }),
    state,
    failedAttempts: 3,
    lastHttpStatus: 500,
  }));

/** Returns the problems that the check finds for a URL of this health and these deliveries. */
async function listProblems(health: WebhookUrlHealth, rows: readonly WebhookDelivery[]): Promise<string[]> {
  const service = createService(await createTestTable(), { now: () => 0 });
  const name = createUniqueName();
  if (health.disabledAt !== undefined) await disableWebhookUrl(service, name, url, health.disabledAt);
  else await saveUrlHealth(service, name, url, health);
  const [first, ...others] = rows.map((row) => ({ ...row, appName: name }));
  if (first) {
    const { failedAttempts: _attempts, lastHttpStatus: _status, ...created } = first;
    const pending = { ...created, state: 'pending', failedAttempts: 0 } as const;
    await createDeliveryIfAbsent(service, pending);
    await replaceDelivery(service, pending, first, 0);
    const stored = JSON.stringify(await service.table.get(deliveryKey(name, first.deliveryId)));
    const copy = ({ deliveryId }: WebhookDelivery): Item => JSON.parse(stored.replaceAll(first.deliveryId, deliveryId));
    await service.table.batchPut(others.map(copy));
  }
  const findings = await checkWebhooks(service, { ...app, name } as unknown as App);
  return findings.map(({ problem }) => problem.replaceAll(name, 'my-app'));
}

describe('checkWebhooks', () => {
  it.each([
    [1, '1 connection timed out or was refused. 1 webhook is affected.'],
    [2, '2 connections in a row timed out or were refused. 2 webhooks are affected.'],
  ])('names %d failed connections and webhooks in the correct number', async (count, text) => {
    const [problem] = await listProblems({ consecutiveFailures: count }, failed('pending', count));
    expect(problem).toBe(`${url} does not respond: ${text}`);
  });

  it.each([
    [1, '1 webhook is lost so far.'],
    [2, '2 webhooks are lost so far.'],
  ])('names %d webhooks to a disabled URL in the correct number', async (count, text) => {
    const [problem] = await listProblems({ disabledAt: 0 }, failed('dead', count));
    expect(problem).toContain(text);
  });

  it.each([
    ['dead', 1, '1 webhook has failed for three days and is no longer retried.'],
    ['dead', 2, '2 webhooks have failed for three days and are no longer retried.'],
    ['dead', 1_000, 'At least 1000 webhooks have failed for three days and are no longer retried.'],
    ['pending', 1, '1 webhook has failed at least 3 times and is retried.'],
    ['pending', 2, '2 webhooks have failed at least 3 times and are retried.'],
  ] as const)('names %s webhooks in the correct number: %d', async (state, count, text) => {
    expect(await listProblems({}, failed(state, count))).toEqual([`${text} Reason of the latest: HTTP 500.`]);
  });
});
