import type { VerifiedKey } from '../apps/app.ts';
import { type AccessTokenGrant, isExpiringSoon, rotateAccessToken } from '../customers/access-token-table.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { ServiceError } from '../foundation/errors.ts';
import { platformTokens, withPlatform } from '../foundation/platform.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { isUnpaid, type Purchase } from '../purchases/purchase.ts';
import { fetchGrantObservations } from '../stores/stripe/evidence.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import {
  type CheckoutGrant,
  findStripeCustomerId,
  invalidTokenError,
  openCheckoutAccount,
  requireAccessGrant,
} from './checkout-context.ts';
import type { PurchaseWithOffer } from './contract.ts';
import { recordStripePurchases, toPurchaseWithOffer } from './record-stripe-purchases.ts';

/**
 * Fetches the purchases of an access token's customer from Stripe and records them. Returns them with a new token if
 * the current token expires soon.
 */
export async function listPurchasesByAccessToken(
  context: OperationContext,
  token: string,
): Promise<{ readonly purchases: PurchaseWithOffer[]; readonly newAccessToken?: string }> {
  const { app, service } = context;
  const now = service.now();
  const grant = await requireAccessGrant(context, token);
  const { recorded, resolvedGrant } = await recordGrantPurchases(context, grant);
  const newAccessToken = isExpiringSoon(grant, now)
    ? await rotateAccessToken(service, app.name, { token, grant: resolvedGrant }, now)
    : undefined;
  return {
    purchases: listPaid(recorded.map(({ purchase }) => purchase)).map((purchase) => toPurchaseWithOffer(purchase, now)),
    ...(newAccessToken !== undefined && { newAccessToken }),
  };
}

/** Fetches the purchases of a grant from Stripe and records them. Returns the grant with its Stripe customer. */
async function recordGrantPurchases(context: OperationContext, grant: CheckoutGrant) {
  const account = await openCheckoutAccount(context, grant.platform);
  const customer = await findStripeCustomerId(grant, account);
  const resolvedGrant = { ...grant, ...(customer !== undefined && { customer }) };
  const observations = await callStripe(() => fetchGrantObservations(resolvedGrant, account));
  return { recorded: await recordStripePurchases(context, observations), resolvedGrant };
}

/**
 * Checks that a token is of a checkout that this customer has paid. The name in a checkout alone does not prove it,
 * because any holder of the public key can start a checkout for any name. Queries Stripe unless a purchase of the
 * checkout is stored. Throws `Forbidden` for any other token.
 */
async function authorizeCustomer(context: OperationContext, token: string, username: string): Promise<void> {
  const { app, service } = context;
  const grant = await requireAccessGrant(context, token);
  if (grant.username !== username) throw invalidTokenError();
  const { platform, subscription, session } = grant;
  const ids = [subscription, session].flatMap((id) => (id === undefined ? [] : [withPlatform(platform, id)]));
  const owned = await listRepresentativePurchases(service, app.name, username);
  if (listPaid(owned).some(({ purchaseId }) => ids.includes(purchaseId))) return;
  const { recorded } = await recordGrantPurchases(context, grant);
  const isOwner = recorded.some(
    ({ purchase, entitledUsers }) => !isUnpaid(purchase) && entitledUsers.includes(username),
  );
  if (!isOwner) throw invalidTokenError();
}

/** Leaves out unpaid purchases: a web client shows each purchase of the list as owned, and polls until there is one. */
const listPaid = (purchases: readonly Purchase[]): Purchase[] => purchases.filter((purchase) => !isUnpaid(purchase));

/** Lists the Stripe purchases among a customer's deciding purchases, for the app's own server. */
export async function listPurchasesByUser(
  { app, service }: OperationContext,
  username: string,
): Promise<PurchaseWithOffer[]> {
  const platforms: readonly string[] = [
    platformTokens.stripe,
    platformTokens.serviceStripe,
  ] satisfies AccessTokenGrant['platform'][];
  const purchases = await listRepresentativePurchases(service, app.name, username);
  return listPaid(purchases)
    .filter(({ platform }) => platforms.includes(platform))
    .map((purchase) => toPurchaseWithOffer(purchase, service.now()));
}

interface Reader {
  readonly key: VerifiedKey;
  readonly username: string;
}

/**
 * Checks that a request may read the data of a customer. The public key is in every released app, so it requires the
 * customer's access token. Throws `Forbidden`.
 */
export async function authorizeReader(
  context: OperationContext,
  accessToken: string | undefined,
  { key, username }: Reader,
): Promise<void> {
  if (key.level !== 'public') return;
  if (accessToken === undefined)
    throw new ServiceError('Forbidden', "The public key requires the customer's access token.");
  await authorizeCustomer(context, accessToken, username);
}
