import { dayMs } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import type { StripeAccount } from './fetch-observations.ts';
import type { ProcessorAPlatform } from './mapping-context.ts';
import { parseStoredSettings } from './settings.ts';
import { createStripeClient } from './stripe-client.ts';

/** The account of the settings, ready to be asked for the application. */
export function openStripeAccount(
  platform: ProcessorAPlatform,
  context: Pick<StoreContext, 'appName' | 'settings' | 'fetch' | 'now'>,
): StripeAccount {
  const { graceDays } = parseStoredSettings(context.settings);
  return {
    stripe: createStripeClient(context),
    mapping: { platform, appName: context.appName, graceMs: graceDays * dayMs, now: context.now() },
  };
}
