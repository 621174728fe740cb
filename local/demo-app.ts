import type { RunningEmulator } from '../emulator/start-emulator.ts';
import { storeDefinitions } from '../emulator/stores.ts';
import { generateApiKey, hashApiKey } from '../lib/apps/api-keys.ts';
import type { App } from '../lib/apps/app.ts';
import { createApp, getApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { type AppRepository, createAppRepository } from '../lib/db/app-repository.ts';
import { createDeliveryRepository } from '../lib/db/delivery-repository.ts';
import { createTableClient } from '../lib/db/table.ts';
import { createCipher } from '../lib/shared/cipher.ts';
import { parse } from '../lib/shared/parse.ts';
import { Platform } from '../lib/shared/platform.ts';
import { setWebhook } from '../lib/webhooks/manage-webhooks.ts';
import { receiverPath } from './webhook-receiver.ts';

interface DemoOptions {
  readonly table: string;
  readonly masterKey: string;
  readonly emulator: RunningEmulator;
  /** Where this machine takes the application's webhooks. */
  readonly receiverUrl: string;
}

/** The application with everything that a user needs to try it. */
export interface DemoApp {
  readonly apiKeys: IssuedApiKeys;
  readonly webhooks: DemoWebhooks;
}

export interface DemoWebhooks {
  readonly urls: readonly string[];
  readonly sandboxUrls: readonly string[];
  /** What its webhooks are signed with. */
  readonly signingSecret: string;
}

/** The application to try things with, connected to every emulated store: the one that was made before, or a new one. */
export async function ensureDemoApp(place: DemoOptions, present?: IssuedApiKeys): Promise<DemoApp> {
  const { masterKey, emulator } = place;
  const table = createTableClient(place.table);
  const apps = createAppRepository(
    table,
    createCipher(async () => masterKey, emulator.clock.now),
  );
  const known = present && (await apps.find(present.appName));
  const apiKeys = known
    ? await getActiveKeys(apps, known, present)
    : await createApp(apps, 'demo', emulator.clock.now());
  for (const { platform } of storeDefinitions) {
    await apps.setStoreSettings(apiKeys.appName, parse(Platform, platform), emulator.settings(platform));
  }
  const { webhookSettings } = await getApp(apps, apiKeys.appName);
  // A user who has set another URL, or none, keeps that.
  if (!webhookSettings || usesLocalReceiver(webhookSettings)) {
    const settings = { sandboxUrls: [], includesPassword: true, ...webhookSettings, urls: [place.receiverUrl] };
    await setWebhook(apiKeys.appName, settings, {
      newSecret: false,
      deps: { apps, deliveries: createDeliveryRepository(table), emulator: { url: emulator.url, roots: [] } },
    });
  }
  return { apiKeys, webhooks: await readWebhookSettings(apps, apiKeys.appName) };
}

/** Whether all that the application is sent goes to the receiver of `npm start`. */
export const usesLocalReceiver = ({ urls }: Pick<DemoWebhooks, 'urls'>): boolean =>
  urls.length > 0 && urls.every((url) => url.endsWith(receiverPath));

/** The keys that open the application now: of a rotated secret key the one after it, beside a rotated public key another. */
async function getActiveKeys(apps: AppRepository, app: App, present: IssuedApiKeys): Promise<IssuedApiKeys> {
  const { secretKey = present.secretKey } = (await apps.findWebhookSender(app.name)) ?? {};
  const digest = hashApiKey(present.publicKey);
  const isLive = app.publicKeys.some((key) => key.digest === digest && key.expiresAt === undefined);
  if (isLive) return { ...present, secretKey };
  const publicKey = generateApiKey('public');
  await apps.update({ ...app, publicKeys: [{ digest: hashApiKey(publicKey) }, ...app.publicKeys] });
  return { ...present, publicKey, secretKey };
}

async function readWebhookSettings(apps: AppRepository, appName: string): Promise<DemoWebhooks> {
  const { webhookSettings, signingSecret = '' } = {
    ...(await getApp(apps, appName)),
    ...(await apps.findWebhookSender(appName)),
  };
  return { urls: webhookSettings?.urls ?? [], sandboxUrls: webhookSettings?.sandboxUrls ?? [], signingSecret };
}
