import type { StoreContext } from '../store.ts';
import { createStripeClient } from './stripe-client.ts';
import type { StripeAccount } from './fetch-observations.ts';
import type { ProcessorAPlatform } from './mapping-context.ts';
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
