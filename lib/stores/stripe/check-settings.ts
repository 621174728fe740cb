import type Stripe from 'stripe';
import type { Platform } from '../../foundation/platform.ts';
import {
  createRejection,
  type Diagnosis,
  findRejection,
  type SettingsRejection,
  type SettingsWarning,
} from '../settings.ts';
import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { missingPermissionError } from './api-errors.ts';
import { parseEnteredSettings, parseStoredSettings } from './settings.ts';
import { callStripe, createStripeClient } from './stripe-client.ts';

/**
 * Checks the format of the entered settings and, if requested, the secret key by listing an object of each resource.
 */
export async function checkSettings(context: StoreContext, { callStore }: CheckSettingsOptions): Promise<string> {
  const { secretKey } = parseEnteredSettings(context.settings);
  const mode = secretKey.includes('_test_') ? 'test' : 'live';
  if (!callStore) return `The settings are well-formed. The secret key is a ${mode} key.`;
  const stripe = createStripeClient(context);
  const prices = await callStripe(async () => await stripe.prices.list({ active: true, ...firstObject }));
  await checkReadPermissions(stripe);
  const catalog =
    prices.data.length > 0 ? 'The account has active prices.' : 'The account does not have active prices.';
  return `Stripe accepts the ${mode} key. ${catalog}`;
}

const firstObject = { limit: 1 };

/**
 * Requests to the resources that the service reads. A restricted key has a permission for each. Write permissions
 * cannot be checked without a change at Stripe.
 *
 * @see https://docs.stripe.com/keys/permissions-reference
 */
const reads: readonly ((stripe: Stripe) => Promise<unknown>)[] = [
  async (stripe) => await stripe.products.list(firstObject),
  async (stripe) => await stripe.coupons.list(firstObject),
  async (stripe) => await stripe.charges.list(firstObject),
  async (stripe) => await stripe.refunds.list(firstObject),
  async (stripe) => await stripe.paymentIntents.list(firstObject),
  async (stripe) => await stripe.disputes.list(firstObject),
  async (stripe) => await stripe.invoices.list(firstObject),
  async (stripe) => await stripe.invoicePayments.list(firstObject),
  async (stripe) => await stripe.subscriptions.list(firstObject),
  async (stripe) => await stripe.checkout.sessions.list(firstObject),
];

/** Throws an error that names all missing permissions to read. */
async function checkReadPermissions(stripe: Stripe): Promise<void> {
  const results = await Promise.allSettled(reads.map(async (read) => await callStripe(async () => await read(stripe))));
  const failures: unknown[] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const rejections = failures.map(findRejection).filter((rejection) => rejection?.rejection === 'permission');
  if (rejections.length > 0)
    throw missingPermissionError(
      createRejection('permission', rejections.map((rejection) => rejection?.message).join('; ')),
    );
  if (failures.length > 0) throw failures[0];
}

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
