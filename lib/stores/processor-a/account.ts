import type { Asking } from '../store.ts';
import { clientOf } from './client.ts';
import type { Look } from './looks.ts';
import type { ProcessorAPlatform } from './origin.ts';
import { settingsOf } from './settings.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The account of the settings, ready to be asked for the application. */
export function openAccount(
  platform: ProcessorAPlatform,
  asking: Pick<Asking, 'app' | 'settings' | 'fetch' | 'now'>,
): Look {
  const { graceDays } = settingsOf(asking.settings);
  return {
    stripe: clientOf(asking),
    origin: { platform, app: asking.app, graceMs: graceDays * dayMs, now: asking.now() },
  };
}
