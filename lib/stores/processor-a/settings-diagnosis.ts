import type { Platform } from '../../shared/platform.ts';
import type { Diagnosis, SettingsRejection, SettingsWarning } from '../settings-rejection.ts';
import type { StoreContext } from '../store-context.ts';
import { parseStoredSettings } from './settings.ts';

/** @see https://docs.stripe.com/keys/restricted-api-keys */
export function describeRejection({ rejection, message }: SettingsRejection, settings: unknown): Diagnosis {
  const { secretKey } = parseStoredSettings(settings);
  const mode = secretKey.includes('_test_') ? 'test' : 'live';
  switch (rejection) {
    case 'expired':
      return {
        problem: `The ${mode} secret key of Stripe has expired.`,
        cure: 'Create a key in the Stripe dashboard, Developers, API keys, and run `app set-store`.',
      };
    case 'permission': {
      const [permission] = /\brak_\w+/.exec(message) ?? [];
      return {
        problem: `The restricted ${mode} key of Stripe lacks ${permission ? `the permission ${permission}` : 'a permission'}.`,
        cure: 'Edit the key in the Stripe dashboard, Developers, API keys: it must read prices, products, charges, disputes, invoices and subscriptions, and write customers, checkout sessions, subscriptions and portal sessions.',
      };
    }
    default:
      return {
        problem: `Stripe rejects the ${mode} secret key: it is wrong, deleted or of a closed account.`,
        cure: 'Copy the secret key from the Stripe dashboard, Developers, API keys, and run `app set-store`.',
      };
  }
}

export function listSettingsWarnings({ settings }: StoreContext, platform: Platform): readonly SettingsWarning[] {
  const { webhookSecrets = [] } = parseStoredSettings(settings);
  if (webhookSecrets.length > 0) return [];
  return [
    {
      code: 'notifications-unverifiable',
      problem: `The settings of ${platform} contain no webhookSecrets, so all notifications of Stripe are rejected.`,
      cure: 'Add the signing secret of the webhook endpoint in the Stripe dashboard to webhookSecrets, and run `app set-store`.',
    },
  ];
}
