import type { BodyOf } from '../api/contract.ts';
import type { createPortal } from '../api/processor-a.ts';
import { ServiceError } from '../errors.ts';
import { answered } from '../stores/processor-a/client.ts';
import { settingsOf } from '../stores/processor-a/settings.ts';
import { ownSubscriptionId } from './own-ids.ts';
import { accountOf, buyerOf, grantOf, type Selling } from './selling.ts';

/** The address of a portal session for the buyer of a token. */
export async function openPortal(
  { accessToken, id, returnUrl }: BodyOf<typeof createPortal>,
  selling: Selling,
): Promise<string> {
  const { app, deps } = selling;
  const grant = await grantOf(deps.accessTokens.find(app.name, accessToken, deps.now()));
  const look = await accountOf(selling, grant.platform);
  const customer = await buyerOf(grant, look);
  if (customer === undefined)
    throw new ServiceError('InvalidPayload', 'Nothing was bought with this access token yet.');
  if (id !== undefined) await ownSubscriptionId(id, customer, look);
  const { portalConfiguration: configuration } = settingsOf(
    await deps.cachedApps.storeSettings(app.name, grant.platform),
  );
  const { url } = await answered(() =>
    look.stripe.billingPortal.sessions.create({
      customer,
      return_url: returnUrl,
      ...(configuration && { configuration }),
    }),
  );
  return url;
}
