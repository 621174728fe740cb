import type { PurchaseWithOffer } from '../api/processor-a.ts';
import { type AccessTokenGrant, isExpiringSoon } from '../db/access-token-repository.ts';
import { fetchGrantObservations } from '../stores/processor-a/evidence.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import { type CheckoutContext, findStripeCustomerId, openCheckoutAccount, requireGrant } from './checkout-context.ts';
import { recordStripePurchases, toPurchaseWithOffer } from './record-stripe-purchases.ts';

/** What the buyer of a token bought, asked from the processor and stored; with a new token when this one ends soon. */
export async function listPurchasesByAccessToken(
  token: string,
  context: CheckoutContext,
): Promise<{ readonly purchases: PurchaseWithOffer[]; readonly newAccessToken?: string }> {
  const { app, deps } = context;
  const now = deps.now();
  const grant = await requireGrant(deps.accessTokens.find(app.name, token, now));
  const account = await openCheckoutAccount(context, grant.platform);
  const customer = await findStripeCustomerId(grant, account);
  const known = { ...grant, ...(customer !== undefined && { customer }) };
  const registered = await recordStripePurchases(
    await callStripe(() => fetchGrantObservations(known, account)),
    context,
  );
  const newAccessToken = isExpiringSoon(grant, now)
    ? await deps.accessTokens.rotate(app.name, { token, grant: known }, now)
    : undefined;
  return {
    purchases: registered.map(({ purchase }) => toPurchaseWithOffer(purchase, now)),
    ...(newAccessToken !== undefined && { newAccessToken }),
  };
}

/** What a user of the application bought through the processor, as it is stored: for the application's own server. */
export async function listPurchasesByUser(
  username: string,
  { app, deps }: CheckoutContext,
): Promise<PurchaseWithOffer[]> {
  const platforms: readonly string[] = ['processor_a', 'service_processor_a'] satisfies AccessTokenGrant['platform'][];
  const owned = await deps.purchases.listByUser(app.name, username);
  return owned
    .filter(({ platform }) => platforms.includes(platform))
    .map((purchase) => toPurchaseWithOffer(purchase, deps.now()));
}
