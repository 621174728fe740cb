import type Stripe from 'stripe';
import { createRejection, findRejection } from '../settings-rejection.ts';
import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { missingPermissionError } from './api-errors.ts';
import { parseEnteredSettings } from './settings.ts';
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
