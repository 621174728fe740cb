import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { parseEnteredSettings } from './settings.ts';
import { callStripe, createStripeClient } from './stripe-client.ts';

/** Checks the format of the entered settings and, if requested, the secret key by listing a price. */
export async function checkSettings(context: StoreContext, { callStore }: CheckSettingsOptions): Promise<string> {
  const { secretKey } = parseEnteredSettings(context.settings);
  const mode = secretKey.includes('_test_') ? 'test' : 'live';
  if (!callStore) return `The settings are well-formed. The secret key is a ${mode} key.`;
  const prices = await callStripe(
    async () => await createStripeClient(context).prices.list({ active: true, limit: 1 }),
  );
  const catalog =
    prices.data.length > 0 ? 'The account has active prices.' : 'The account does not have active prices.';
  return `Stripe accepts the ${mode} key. ${catalog}`;
}
