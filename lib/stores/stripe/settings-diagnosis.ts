import type { Platform } from '../../foundation/platform.ts';
import type { Diagnosis, SettingsRejection, SettingsWarning } from '../settings-rejection.ts';
import type { StoreContext } from '../store-context.ts';
import { parseStoredSettings } from './settings.ts';

/**
 * @see https://docs.stripe.com/keys/restricted-api-keys
 * @see https://docs.stripe.com/keys/permissions-reference
 */
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
      const permissions = [...new Set(message.match(/\brak_\w+/g))].sort().join(', ');
      return {
        problem: `The restricted ${mode} key of Stripe lacks ${permissions ? `permissions: ${permissions}` : 'a permission'}.`,
        cure: 'Edit the key in the Stripe dashboard, Developers, API keys. It must read Prices, Products, Coupons, Charges and Refunds, PaymentIntents, Disputes and Invoices, and write Customers, Checkout Sessions, Subscriptions and Customer portal.',
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
