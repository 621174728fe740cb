import type Stripe from 'stripe';
import type { ContractBody } from '../api/contract.ts';
import { issueAccessToken } from '../customers/access-token-table.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { listComputedNames, removeErasedNames } from '../purchases/erased-name-table.ts';
import { unavailableError } from '../stores/stripe/api-errors.ts';
import type { Price } from '../stores/stripe/payloads.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import { findAccessGrant, findStripeCustomerId, openCheckoutAccount } from './checkout-context.ts';
import type { createCheckout } from './contract.ts';
import { findOfferPrice } from './price-list.ts';
import { getTrialDays } from './to-price-list.ts';

type CheckoutRequest = ContractBody<typeof createCheckout>;

/** Maximum length of `client_reference_id` at Stripe. */
const maxReferenceLength = 200;

/**
 * Creates a checkout session for an offer, and an access token for the purchase. An unknown or expired access token
 * counts as no token: the buyer is a new Stripe customer.
 */
export async function createCheckoutSession(
  context: OperationContext,
  request: CheckoutRequest,
): Promise<{ readonly sessionId: string; readonly url: string; readonly accessToken: string }> {
  const { app, service } = context;
  // Clients send their stored token forever and never discard it, so an ended token must not prevent an order.
  const grant = request.accessToken === undefined ? undefined : await findAccessGrant(context, request.accessToken);
  const account = await openCheckoutAccount(context, grant?.platform);
  const { price } = await findOfferPrice(request.offerId, account);
  const customer = grant && (await findStripeCustomerId(grant, account));
  const params = buildSessionParams(request, { price, customer, appName: app.name });
  const { id, url } = await callStripe(() => account.stripe.checkout.sessions.create(params));
  if (!url) throw unavailableError('The checkout session does not have a URL.');
  const { platform } = account.mapping;
  const username = request.applicationUsername ?? grant?.username;
  // The erased customer has returned: the notification of the payment must not lose its user.
  if (username !== undefined) await removeErasedNames(service, app.name, listComputedNames(username));
  const newGrant = { platform, session: id, ...omitUndefined({ customer, username }) };
  return { sessionId: id, url, accessToken: await issueAccessToken(service, app.name, newGrant, service.now()) };
}

/** @see https://docs.stripe.com/api/checkout/sessions */
function buildSessionParams(
  request: CheckoutRequest,
  { price, customer, appName }: { price: Price; customer: string | undefined; appName: string },
): Stripe.Checkout.SessionCreateParams {
  const { applicationUsername } = request;
  const mode = request.mode ?? (price.recurring ? 'subscription' : 'payment');
  const metadata = { app: appName, ...omitUndefined({ applicationUsername }) };
  // Spec: not shown. A free trial is offered only to customers without an earlier purchase.
  const trialDays = customer === undefined ? getTrialDays(price) : 0;
  return {
    mode,
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    metadata,
    // Stripe rejects longer references. The metadata contains the username in any case.
    ...(applicationUsername !== undefined &&
      applicationUsername.length <= maxReferenceLength && { client_reference_id: applicationUsername }),
    ...omitUndefined({ customer }),
    ...(mode === 'subscription'
      ? { subscription_data: { metadata, ...(trialDays > 0 && { trial_period_days: trialDays }) } }
      : { payment_intent_data: { metadata }, ...(customer === undefined && { customer_creation: 'always' as const }) }),
  };
}
