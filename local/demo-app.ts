import type { RunningEmulator } from '../emulator/start-emulator.ts';
import { storeDefinitions } from '../emulator/stores.ts';
import { type App, generateApiKey, hashApiKey } from '../lib/apps/app.ts';
import { findApp, findWebhookSender, updateApp } from '../lib/apps/app-table.ts';
import { createApp, getApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../lib/apps/store-settings-table.ts';
import { createCipher } from '../lib/foundation/cipher.ts';
import { createServiceRecord } from '../lib/foundation/get-service.ts';
import { parse } from '../lib/foundation/parse.ts';
import { Platform, platformTokens } from '../lib/foundation/platform.ts';
import type { Service } from '../lib/foundation/service.ts';
import { createTableClient } from '../lib/foundation/table.ts';
import { migrateTable } from '../lib/migration/migrate-table.ts';
import { saveWebhook } from '../lib/webhooks/manage-webhooks.ts';
import { startupError } from './startup-error.ts';
import { receiverPath } from './webhook-receiver.ts';

interface DemoOptions {
  readonly table: string;
  readonly masterKey: string;
  /** Absent with real stores: the operator sets their settings. */
  readonly emulator: RunningEmulator | undefined;
  now(): number;
  readonly receiverUrl: string;
}

export const demoName = 'demo';

export interface DemoApp {
  readonly apiKeys: IssuedApiKeys;
  readonly webhooks: DemoWebhooks;
}

export interface DemoWebhooks {
  readonly urls: readonly string[];
  readonly sandboxUrls: readonly string[];
  /** Standard Webhooks secret, `whsec_…`. */
  readonly signingSecret: string;
}

const demoSettings: Partial<Readonly<Record<Platform, object>>> = {
  [platformTokens.appStore]: {
    offers: [
      { kind: 'promotional', productId: 'premium', offerId: 'welcome' },
      { kind: 'promotional-v1', productId: 'premium', offerId: 'welcome' },
      { kind: 'introductory', productId: 'premium', who: 'never-had-it' },
    ],
  },
  // Without it, Google Play would revoke the purchases when the clock moves by three days.
  [platformTokens.googlePlay]: { acknowledge: true },
};

/** Creates the demo app unless it exists, and connects it to every emulated store, if there are any. */
export async function ensureDemoApp(options: DemoOptions, present?: IssuedApiKeys): Promise<DemoApp> {
  const { masterKey, emulator, now } = options;
  const service = createServiceRecord({
    now,
    table: createTableClient(options.table),
    cipher: createCipher(async () => masterKey, now),
    emulator: { isLocal: true, roots: [] },
  });
  await convertTable(service);
  const existing = present && (await findApp(service, present.appName));
  const apiKeys = existing
    ? await getActiveKeys(service, existing, present)
    : await createApp(service, demoName, now());
  for (const { platform } of emulator ? storeDefinitions : []) {
    const token = parse(Platform, platform);
    await setStoreSettings(service, apiKeys.appName, token, {
      ...emulator?.settings(platform),
      ...demoSettings[token],
    });
  }
  const { webhookSettings } = await getApp(service, apiKeys.appName);
  // Keeps a webhook URL that the user set or removed.
  if (!webhookSettings || usesLocalReceiver(webhookSettings)) {
    const settings = { sandboxUrls: [], includesPassword: true, ...webhookSettings, urls: [options.receiverUrl] };
    await saveWebhook(service, apiKeys.appName, settings, { newSecret: false });
  }
  return { apiKeys, webhooks: await readWebhookSettings(service, apiKeys.appName) };
}

/** Converts data of an earlier release. Throws a `StartupError` for data that this release cannot use. */
async function convertTable(service: Service): Promise<void> {
  await migrateTable(service).catch((error: Error) => {
    throw startupError(`${error.message} To start without this data, delete the data folder or set DATA=memory.`);
  });
}

/** All webhooks of the app go to the local receiver. */
export const usesLocalReceiver = ({ urls }: Pick<DemoWebhooks, 'urls'>): boolean =>
  urls.length > 0 && urls.every((url) => url.endsWith(receiverPath));

/**
 * Returns keys that are valid now. Takes over a rotated secret key and adds a new public key if the saved one was
 * rotated.
 */
async function getActiveKeys(service: Service, app: App, present: IssuedApiKeys): Promise<IssuedApiKeys> {
  const { secretKey = present.secretKey } = (await findWebhookSender(service, app.name)) ?? {};
  const digest = hashApiKey(present.publicKey);
  const isActive = app.publicKeys.some((key) => key.digest === digest && key.expiresAt === undefined);
  if (isActive) return { ...present, secretKey };
  const publicKey = generateApiKey('public');
  await updateApp(service, app.name, ({ publicKeys }) => ({
    members: { publicKeys: [{ digest: hashApiKey(publicKey), createdAt: Date.now() }, ...publicKeys] },
  }));
  return { ...present, publicKey, secretKey };
}

async function readWebhookSettings(service: Service, appName: string): Promise<DemoWebhooks> {
  const { webhookSettings, signingSecret = '' } = {
    ...(await getApp(service, appName)),
    ...(await findWebhookSender(service, appName)),
  };
  return { urls: webhookSettings?.urls ?? [], sandboxUrls: webhookSettings?.sandboxUrls ?? [], signingSecret };
}
