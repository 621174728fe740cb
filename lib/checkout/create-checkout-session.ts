import type Stripe from 'stripe';
import type { ContractBody } from '../api/contract.ts';
import type { createCheckout } from '../api/processor-a.ts';
import { ServiceError } from '../shared/errors.ts';
import type { StripeAccount } from '../stores/processor-a/fetch-observations.ts';
import type { Price } from '../stores/processor-a/payloads.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import { type CheckoutContext, findStripeCustomerId, openCheckoutAccount, requireGrant } from './checkout-context.ts';
import { findOfferPrice } from './price-list.ts';
import { getTrialDays } from './to-price-list.ts';

type CheckoutRequest = ContractBody<typeof createCheckout>;

/** A checkout session for the offer, and the token that opens what is bought by it. */
export async function createCheckoutSession(
  wish: CheckoutRequest,
  context: CheckoutContext,
): Promise<{ readonly sessionId: string; readonly url: string; readonly accessToken: string }> {
  const { app, deps } = context;
  const now = deps.now();
  const grant =
    wish.accessToken === undefined
      ? undefined
      : await requireGrant(deps.accessTokens.find(app.name, wish.accessToken, now));
  const account = await openCheckoutAccount(context, grant?.platform);
  const { price } = await findOfferPrice(wish.offerId, account);
  const customer = grant && (await findStripeCustomerId(grant, account));
  const { id, url } = await callStripe(() =>
    account.stripe.checkout.sessions.create(buildSessionParams(wish, { price, customer, look: account })),
  );
  if (!url) throw new ServiceError('ConnectionFailed', 'The processor gave no address to pay at.');
  const { platform } = account.mapping;
  const newGrant = { platform, session: id, ...(customer !== undefined && { customer }) };
  return { sessionId: id, url, accessToken: await deps.accessTokens.issue(app.name, newGrant, now) };
}

function buildSessionParams(
  wish: CheckoutRequest,
  { price, customer, look: account }: { price: Price; customer: string | undefined; look: StripeAccount },
): Stripe.Checkout.SessionCreateParams {
  const { applicationUsername } = wish;
  const mode = wish.mode ?? (price.recurring ? 'subscription' : 'payment');
  const metadata = { app: account.mapping.appName, ...(applicationUsername !== undefined && { applicationUsername }) };
  // Spec: not shown. A free trial is for buyers who bought nothing before.
  const trial = customer === undefined ? getTrialDays(price) : 0;
  return {
    mode,
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: wish.successUrl,
    cancel_url: wish.cancelUrl,
    metadata,
    // It takes no longer reference; the metadata say it anyway.
    ...(applicationUsername !== undefined &&
      applicationUsername.length <= 200 && { client_reference_id: applicationUsername }),
    ...(customer !== undefined && { customer }),
    ...(mode === 'subscription'
      ? { subscription_data: { metadata, ...(trial > 0 && { trial_period_days: trial }) } }
      : { payment_intent_data: { metadata }, ...(customer === undefined && { customer_creation: 'always' as const }) }),
  };
}
