import type { StoreContext } from '../store.ts';
import { createStripeClient } from './client.ts';
import type { StripeAccount } from './looks.ts';
import type { ProcessorAPlatform } from './origin.ts';
import { parseStoredSettings } from './settings.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The account of the settings, ready to be asked for the application. */
export function openStripeAccount(
  platform: ProcessorAPlatform,
  asking: Pick<StoreContext, 'appName' | 'settings' | 'fetch' | 'now'>,
): StripeAccount {
  const { graceDays } = parseStoredSettings(asking.settings);
  return {
    stripe: createStripeClient(asking),
    mapping: { platform, app: asking.appName, graceMs: graceDays * dayMs, now: asking.now() },
  };
}
