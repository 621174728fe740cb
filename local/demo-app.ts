import type { RunningEmulator } from '../emulator/start-emulator.ts';
import { stores } from '../emulator/stores.ts';
import type { App } from '../lib/apps/app.ts';
import { cipherOf } from '../lib/apps/cipher.ts';
import { digestOf, newKey } from '../lib/apps/keys.ts';
import { createApp, existing, type IssuedKeys } from '../lib/apps/operator.ts';
import { type Apps, appsOf } from '../lib/db/apps.ts';
import { deliveriesOf } from '../lib/db/deliveries.ts';
import { openTable } from '../lib/db/table.ts';
import { parse } from '../lib/parse.ts';
import { Platform } from '../lib/purchases/platform.ts';
import { setWebhook } from '../lib/webhooks/operator.ts';
import { receiverPath } from './webhook-receiver.ts';

interface Place {
  readonly table: string;
  readonly masterKey: string;
  readonly emulator: RunningEmulator;
  /** Where this machine takes the application's webhooks. */
  readonly receiverUrl: string;
}

/** The application with everything that a user needs to try it. */
export interface Demo {
  readonly keys: IssuedKeys;
  readonly webhooks: DemoWebhooks;
}

export interface DemoWebhooks {
  readonly urls: readonly string[];
  readonly sandboxUrls: readonly string[];
  /** What its webhooks are signed with. */
  readonly signingSecret: string;
}

/** The application to try things with, connected to every emulated store: the one that was made before, or a new one. */
export async function demoApp(place: Place, present?: IssuedKeys): Promise<Demo> {
  const { masterKey, emulator } = place;
  const table = openTable(place.table);
  const apps = appsOf(
    table,
    cipherOf(async () => masterKey, emulator.clock.now),
  );
  const known = present && (await apps.find(present.app));
  const keys = known ? await liveKeys(apps, known, present) : await createApp(apps, 'demo', emulator.clock.now());
  for (const { platform } of stores) {
    await apps.setStoreSettings(keys.app, parse(Platform, platform), emulator.settings(platform));
  }
  const { webhook } = await existing(apps, keys.app);
  // A user who has set another URL, or none, keeps that.
  if (!webhook || isReceivedHere(webhook)) {
    const settings = { sandboxUrls: [], sendsPassword: true, ...webhook, urls: [place.receiverUrl] };
    await setWebhook(keys.app, settings, {
      newSecret: false,
      deps: { apps, deliveries: deliveriesOf(table), emulator: { url: emulator.url, roots: [] } },
    });
  }
  return { keys, webhooks: await webhooksOf(apps, keys.app) };
}

/** Whether all that the application is sent goes to the receiver of `npm start`. */
export const isReceivedHere = ({ urls }: Pick<DemoWebhooks, 'urls'>): boolean =>
  urls.length > 0 && urls.every((url) => url.endsWith(receiverPath));

/** The keys that open the application now: of a rotated secret key the one after it, beside a rotated public key another. */
async function liveKeys(apps: Apps, app: App, present: IssuedKeys): Promise<IssuedKeys> {
  const { secretKey = present.secretKey } = (await apps.webhookSender(app.name)) ?? {};
  const digest = digestOf(present.publicKey);
  const isLive = app.publicKeys.some((key) => key.digest === digest && key.endsAt === undefined);
  if (isLive) return { ...present, secretKey };
  const publicKey = newKey('public');
  await apps.replace({ ...app, publicKeys: [{ digest: digestOf(publicKey) }, ...app.publicKeys] });
  return { ...present, publicKey, secretKey };
}

async function webhooksOf(apps: Apps, app: string): Promise<DemoWebhooks> {
  const { webhook, signingSecret = '' } = { ...(await existing(apps, app)), ...(await apps.webhookSender(app)) };
  return { urls: webhook?.urls ?? [], sandboxUrls: webhook?.sandboxUrls ?? [], signingSecret };
}
