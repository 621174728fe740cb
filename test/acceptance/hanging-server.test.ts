import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApp, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import type { LocalService } from '../../local/start-local.ts';
import { type ApplicationServer, startApplicationServer } from '../../testing/application-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl } from '../../testing/call-local.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

let service: LocalService;
let hanging: ApplicationServer;
let healthy: ApplicationServer;
beforeAll(async () => {
  [hanging, healthy] = await Promise.all([startApplicationServer(), startApplicationServer()]);
  // No attempt times out during the test.
  service = await startLocalService({ webhookTimeoutMs: 10 * minuteMs });
});
afterAll(async () => {
  // Ends the hanging attempts, which the service waits for.
  await Promise.all([hanging?.close(), healthy?.close()]);
  await service?.close();
});

const control = async (path: string, body?: object) => await callLocalControl(service, path, body);

/** Creates an app whose webhooks go to this URL. */
async function createAppWithWebhook(name: string, url: string): Promise<IssuedApiKeys> {
  Object.assign(process.env, service.environment);
  const localDeps = { ...getService(), emulator: { url: service.emulatorUrl, roots: [] } };

  const keys = await createApp(localDeps, name, Date.now());
  await setStoreSettings(localDeps, name, 'store_a', await control('/settings/store_a'));
  await saveWebhook(localDeps, name, { urls: [url], sandboxUrls: [], includesPassword: true }, { newSecret: false });
  return keys;
}

async function buy({ appName, publicKey }: IssuedApiKeys, applicationUsername: string): Promise<void> {
  const order = { platform: 'store_a', productId: 'coins', type: 'consumable', applicationUsername };
  const { validate } = await control('/purchases', order);
  await fetch(`${service.baseUrl}/v1/validate`, {
    method: 'POST',
    headers: buildBasicAuth(appName, publicKey),
    body: JSON.stringify(validate),
  });
}

it('delivers the webhooks of an app while the webhooks of a second app hang', async () => {
  hanging.respondWith({ status: 200, hangs: true });
  const stuck = await createAppWithWebhook('stuck', hanging.url);
  const quick = await createAppWithWebhook('quick', healthy.url);
  // Each purchase sends two webhooks. They occupy at most six of the eight instances.
  await Promise.all(Array.from({ length: 3 }, async (_, user) => await buy(stuck, `stuck-${user}`)));
  await waitFor('the hanging webhooks', () => hanging.countHanging() === 6);
  await buy(quick, 'quick');
  await waitFor('the webhooks of the healthy app', () => healthy.requests.length === 2);
  expect(hanging.countHanging()).toBe(6);
  expect(healthy.requests.every(({ body }) => body.includes('quick'))).toBe(true);
});
