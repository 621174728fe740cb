import type { RunningEmulator } from '../emulator/start-emulator.ts';
import { stores } from '../emulator/stores.ts';
import { cipherOf } from '../lib/apps/cipher.ts';
import { createApp, type IssuedKeys } from '../lib/apps/operator.ts';
import { appsOf } from '../lib/db/apps.ts';
import { openTable } from '../lib/db/table.ts';
import { parse } from '../lib/parse.ts';
import { Platform } from '../lib/purchases/platform.ts';

interface Place {
  readonly table: string;
  readonly masterKey: string;
  readonly emulator: RunningEmulator;
}

/** The application to try things with, connected to every emulated store: the one that was made before, or a new one. */
export async function demoApp({ table, masterKey, emulator }: Place, present?: IssuedKeys): Promise<IssuedKeys> {
  const apps = appsOf(
    openTable(table),
    cipherOf(async () => masterKey),
  );
  const keys =
    present && (await apps.find(present.app)) ? present : await createApp(apps, 'demo', emulator.clock.now());
  for (const { platform } of stores) {
    await apps.setStoreSettings(keys.app, parse(Platform, platform), emulator.settings(platform));
  }
  return keys;
}
