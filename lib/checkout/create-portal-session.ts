import type { ContractBody } from '../api/contract.ts';
import { findCachedSettings } from '../apps/store-settings-table.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { parseStoredSettings } from '../stores/stripe/settings.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import { authorizeSubscriptionId } from './authorize-subscription.ts';
import { openCheckoutAccount, requireAccessGrant, requireStripeCustomerId } from './checkout-context.ts';
import type { createPortal } from './contract.ts';

/**
 * Creates a customer portal session for the customer of an access token. Returns its URL.
 *
 * @see https://docs.stripe.com/api/customer_portal/sessions/create
 */
export async function createPortalSession(
  context: OperationContext,
  { accessToken, id, returnUrl }: ContractBody<typeof createPortal>,
): Promise<string> {
  const { app, service } = context;
  const grant = await requireAccessGrant(context, accessToken);
  const account = await openCheckoutAccount(context, grant.platform);
  const customer = await requireStripeCustomerId(grant, account);
  if (id !== undefined) await authorizeSubscriptionId(id, customer, account);
  const { portalConfiguration: configuration } = parseStoredSettings(
    await findCachedSettings(service, app.name, grant.platform),
  );
  const { url } = await callStripe(() =>
    account.stripe.billingPortal.sessions.create({
      customer,
      return_url: returnUrl,
      ...(configuration && { configuration }),
    }),
  );
  return url;
}
