import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Platform } from '../../lib/shared/platform.ts';
import type { LocalService } from '../../local/start-local.ts';
import { type ApplicationServer, startApplicationServer } from '../../testing/application-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { runSuccessfully } from '../../testing/command-line.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

let service: LocalService;
let server: ApplicationServer;
beforeAll(async () => {
  server = await startApplicationServer();
  service = await startLocalService();
  await cli('app', 'set-webhook', service.appName, '--url', server.url);
  const file = join(tmpdir(), `catalogue-${randomUUID()}.json`);
  const product = { type: 'paid subscription', group: 'plans' };
  await writeFile(file, JSON.stringify(Object.fromEntries(catalogueIds.map((id) => [id, product]))));
  await cli('app', 'set-catalogue', service.appName, file);
});
afterAll(async () => {
  await service?.close();
  await server?.close();
});

const cli = async (...args: string[]) => await runSuccessfully(service.environment, args);

/** Two subscriptions of the catalogue's group for each store that does not link purchases. */
const catalogueGroups: ReadonlyArray<readonly [Platform, string, string]> = [
  ['store_b', 'gold', 'silver'],
  ['store_c', '9NBLGGH5G111', '9NBLGGH5S222'],
  ['processor_a', 'basic', 'premium'],
  ['processor_b', 'monthly', 'premium'],
];
const catalogueIds = catalogueGroups.flatMap(([, first, next]) => [first, next]);

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
async function control(path: string, body: object = {}): Promise<any> {
  const response = await fetch(`${service.emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
const read = async (path: string): Promise<any> =>
  await (await fetch(service.baseUrl + path, { headers: buildBasicAuth(service.appName, service.secretKey) })).json();

const buy = async (order: object) => await control('/purchases', { type: 'paid subscription', ...order });

/** Validates as a client does: again if a slow machine has exceeded the time limit of the function. */
const validate = async (request: object) => {
  const headers = buildBasicAuth(service.appName, service.publicKey);
  const init = { method: 'POST', headers, body: JSON.stringify(request) };
  const response = await waitFor(
    'the response to a validation',
    async () => await fetch(`${service.baseUrl}/v1/validate`, init),
    ({ status }) => status !== 504,
  );
  const { ok, data } = (await response.json()) as { ok: boolean; data: { collection: { purchaseId: string }[] } };
  expect(ok).toBe(true);
  return data;
};

interface WebhookBody {
  readonly applicationUsername: string;
  readonly notification: Readonly<Record<'reason' | 'productId' | 'purchaseId' | 'date', string>>;
  readonly purchases: Readonly<Record<string, object>>;
}

const listWebhooks = (applicationUsername: string): WebhookBody[] =>
  server.requests
    .map(({ body }) => JSON.parse(body) as WebhookBody)
    .filter((webhook) => webhook.applicationUsername === applicationUsername);

/** Waits for a webhook about a customer with this reason. */
const waitForWebhook = async (username: string, reason: string): Promise<WebhookBody> => {
  const find = () => listWebhooks(username).find(({ notification }) => notification.reason === reason);
  const webhook = await waitFor(`a webhook of ${username} with ${reason}`, find);
  if (!webhook) throw new Error('The webhook is missing.');
  return webhook;
};

/** Counts the renewals of a day in the statistics. */
async function countRenewals(date: string): Promise<number> {
  const day = date.slice(0, 10);
  const { dailyStats } = await read(`/v3/stats?include_notifications=true&startdate=${day}&enddate=${day}`);
  return dailyStats[0]?.notifications?.RENEWED ?? 0;
}

/** Expects one purchase after the expiration, announced as RENEWED and counted in the statistics. */
async function expectRenewed(username: string, productId: string): Promise<void> {
  const { notification, purchases } = await waitForWebhook(username, 'RENEWED');
  expect(notification.productId).toBe(productId);
  expect(purchases).toMatchObject({ [productId]: { isExpired: false } });
  const ofPurchase = listWebhooks(username).filter(
    (webhook) =>
      webhook.notification.productId === productId && webhook.notification.purchaseId === notification.purchaseId,
  );
  expect(ofPurchase.map((webhook) => webhook.notification.reason)).not.toContain('PURCHASED');
  // The clock is months after the other tests.
  await waitFor('the renewal in the statistics', async () => (await countRenewals(notification.date)) === 1);
}

describe('resubscriptions', () => {
  it('announces another product of the group after the expiration as RENEWED (App Store)', async () => {
    const username = createUniqueName('user');
    const order = { platform: 'store_a', applicationUsername: username, group: createUniqueName('group') };
    const [first, next] = [createUniqueName('plan'), createUniqueName('plan')];
    await validate((await buy({ ...order, productId: first })).validate);
    await control('/clock', { advance: 'P2M' });
    await waitForWebhook(username, 'EXPIRED');
    await buy({ ...order, productId: next });
    await expectRenewed(username, `store_a:${next}`);
  });

  it('announces a linked purchase after the expiration as RENEWED to the owner (Google Play)', async () => {
    const username = createUniqueName('user');
    const productId = createUniqueName('plan');
    const { id, validate: request } = await buy({ platform: 'store_b', applicationUsername: username, productId });
    await validate(request);
    await control('/clock', { advance: 'P2M' });
    await waitForWebhook(username, 'EXPIRED');
    await control(`/purchases/${id}/resubscribe`);
    await expectRenewed(username, `store_b:${productId}`);
  });

  it.each(catalogueGroups)(
    'announces another product of the catalogue group after the expiration as RENEWED (%s)',
    async (platform, first, next) => {
      const username = createUniqueName('user');
      const order = { platform, applicationUsername: username };
      await validate((await buy({ ...order, productId: first })).validate);
      await control('/clock', { advance: 'P2M' });
      await validate((await buy({ ...order, productId: next })).validate);
      await expectRenewed(username, `${platform}:${next}`);
    },
  );
});

describe('price increases of the App Store', () => {
  it('announces a pending and an accepted price increase', async () => {
    const username = createUniqueName('user');
    const productId = createUniqueName('plan');
    const { id, validate: request } = await buy({ platform: 'store_a', applicationUsername: username, productId });
    await validate(request);
    const purchases = (priceConsentStatus: string) => ({ [`store_a:${productId}`]: { priceConsentStatus } });
    await control(`/purchases/${id}/raise-price`);
    expect(await waitForWebhook(username, 'PRICE_CHANGE_UPDATED')).toMatchObject({ purchases: purchases('Notified') });
    await control(`/purchases/${id}/accept-price`);
    expect(await waitForWebhook(username, 'PRICE_CHANGE_CONFIRMED')).toMatchObject({ purchases: purchases('Agreed') });
  });
});
