import type { RunningEmulator } from '../emulator/start-emulator.ts';
import { stores } from '../emulator/stores.ts';
import { cipherOf } from '../lib/apps/cipher.ts';
import { createApp, type IssuedKeys } from '../lib/apps/operator.ts';
import { appsOf } from '../lib/db/apps.ts';
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

/** The application to try things with, connected to every emulated store: the one that was made before, or a new one. */
export async function demoApp(place: Place, present?: IssuedKeys): Promise<IssuedKeys> {
  const { masterKey, emulator, receiverUrl } = place;
  const table = openTable(place.table);
  const apps = appsOf(
    table,
    cipherOf(async () => masterKey, emulator.clock.now),
  );
  const keys =
    present && (await apps.find(present.app)) ? present : await createApp(apps, 'demo', emulator.clock.now());
  for (const { platform } of stores) {
    await apps.setStoreSettings(keys.app, parse(Platform, platform), emulator.settings(platform));
  }
  const urls = (await apps.find(keys.app))?.webhook?.urls ?? [];
  // A user who has set another URL keeps it.
  if (urls.every((url) => url.endsWith(receiverPath))) {
    const settings = { urls: [receiverUrl], sandboxUrls: [], sendsPassword: true };
    await setWebhook(keys.app, settings, {
      newSecret: false,
      deps: { apps, deliveries: deliveriesOf(table), emulator: { url: emulator.url, roots: [] } },
    });
  }
  return keys;
}
