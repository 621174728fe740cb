import type { StripeAccount } from '../stores/stripe/stripe-account.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import { fetchSession, fetchSubscription } from '../stores/stripe/stripe-queries.ts';
import { invalidTokenError } from './checkout-context.ts';
import { toStripeId } from './offer-id.ts';

/**
 * Verifies that a checkout session or subscription belongs to the customer. Returns the subscription id, or undefined
 * for a session without a subscription. Throws `Forbidden` for another customer's object and for any other kind of id.
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
