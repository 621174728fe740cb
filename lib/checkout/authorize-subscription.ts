import type { StripeAccount } from '../stores/processor-a/fetch-observations.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import { fetchSession, fetchSubscription } from '../stores/processor-a/stripe-queries.ts';
import { invalidTokenError } from './checkout-context.ts';
import { toStripeId } from './offer-id.ts';

/**
 * Checks that a session or subscription is the buyer's, and gives the subscription that it stands for, if any. Throws
 * `Forbidden` for another buyer's, and for what the token cannot be for.
 */
export async function authorizeSubscriptionId(
  id: string,
  stripeCustomerId: string,
  { stripe }: StripeAccount,
): Promise<string | undefined> {
  const stripeId = toStripeId(id);
  if (stripeId.startsWith('cs_')) {
    const session = await callStripe(() => fetchSession(stripe, stripeId));
    if (session.customer !== stripeCustomerId) throw invalidTokenError();
    return session.subscription ?? undefined;
  }
  if (!stripeId.startsWith('sub_')) throw invalidTokenError();
  const { customer } = await callStripe(() => fetchSubscription(stripe, stripeId));
  if (customer !== stripeCustomerId) throw invalidTokenError();
  return stripeId;
}
