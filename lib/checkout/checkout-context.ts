import { type AccessTokenGrant, type ActiveGrant, findAccessToken } from '../customers/access-token-table.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { ServiceError } from '../foundation/errors.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import { selectCheckoutPlatform } from '../stores/checkout-platform.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import type { StripePlatform } from '../stores/stripe/mapping-context.ts';
import { openStripeAccount, type StripeAccount } from '../stores/stripe/stripe-account.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import { fetchSession } from '../stores/stripe/stripe-queries.ts';

/** Opens the Stripe account of an access token's platform. The default is the account that the app sells through. */
export async function openCheckoutAccount(
  { app, recorder, service }: OperationContext,
  platform?: StripePlatform,
): Promise<StripeAccount> {
  const checkoutPlatform = platform ?? (await selectCheckoutPlatform(service, app.name));
  const context = await createStoreContext(service, app.name, { platform: checkoutPlatform, recorder });
  return openStripeAccount(checkoutPlatform, context);
}

/** A grant of a Stripe account. */
export type CheckoutGrant = ActiveGrant & { readonly platform: StripePlatform };

/** Finds the grant of an access token. Returns undefined if the token is unknown, expired or for another store. */
export async function findAccessGrant(
  { app, service }: OperationContext,
  token: string,
): Promise<CheckoutGrant | undefined> {
  const grant = await findAccessToken(service, app.name, token, service.now());
  return grant && isStripePlatform(grant.platform) ? { ...grant, platform: grant.platform } : undefined;
}

/** Finds the grant of an access token. Throws `Forbidden` if the token is unknown, expired or for another store. */
export async function requireAccessGrant(context: OperationContext, token: string): Promise<CheckoutGrant> {
  const grant = await findAccessGrant(context, token);
  if (!grant) throw invalidTokenError();
  return grant;
}

/**
 * Creates the error for an unusable access token. Client libraries discard their token if they receive exactly this
 * message.
 */
export const invalidTokenError = (): ServiceError => new ServiceError('Forbidden', 'Invalid access token');

/**
 * Finds the Stripe customer of a grant. Before the first payment, only the checkout session identifies the customer.
 * Returns undefined if the session does not have a customer yet.
 */
export async function findStripeCustomerId(
  { customer, session }: AccessTokenGrant,
  { stripe }: StripeAccount,
): Promise<string | undefined> {
  if (customer !== undefined || session === undefined) return customer;
  return (await callStripe(() => fetchSession(stripe, session))).customer ?? undefined;
}

/** Finds the Stripe customer of a grant. Throws `InvalidPayload` before the first payment. */
export async function requireStripeCustomerId(grant: AccessTokenGrant, account: StripeAccount): Promise<string> {
  const customer = await findStripeCustomerId(grant, account);
  if (customer === undefined) throw new ServiceError('InvalidPayload', 'accessToken does not have a purchase yet.');
  return customer;
}

const isStripePlatform = (platform: Platform): platform is StripePlatform =>
  platform === platformTokens.stripe || platform === platformTokens.serviceStripe;
