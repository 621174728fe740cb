import type { ContractBody } from '../api/contract.ts';
import type { changePlan, PurchaseWithOffer } from '../api/processor-a.ts';
import type { ActiveGrant } from '../db/access-token-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { fetchObservation, type StripeAccount } from '../stores/processor-a/fetch-observations.ts';
import type { Subscription } from '../stores/processor-a/payloads.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import { fetchSubscription, listSubscriptions } from '../stores/processor-a/stripe-queries.ts';
import { authorizeSubscriptionId } from './authorize-subscription.ts';
import { type CheckoutContext, findStripeCustomerId, openCheckoutAccount, requireGrant } from './checkout-context.ts';
import { findOfferPrice } from './price-list.ts';
import { recordStripePurchases, toPurchaseWithOffer } from './record-stripe-purchases.ts';

/** Subscriptions in these states can be changed. */
const changeableStatuses = ['active', 'trialing', 'past_due'];

/** Switches the buyer's subscription to another price, charges or credits the difference now, and changes the token. */
export async function changeSubscriptionPlan(
  request: ContractBody<typeof changePlan>,
  context: CheckoutContext,
): Promise<{ readonly purchase?: PurchaseWithOffer; readonly newAccessToken: string }> {
  const { app, deps } = context;
  const token = request.accessToken;
  const grant = await requireGrant(deps.accessTokens.find(app.name, token, deps.now()));
  const account = await openCheckoutAccount(context, grant.platform);
  const { customer, subscription } = await findOwnSubscription(request, grant, account);
  const { price } = await findOfferPrice(request.offerId, account);
  if (!price.recurring) throw new ServiceError('InvalidPayload', 'offerId: this offer is no subscription.');
  await updateSubscriptionPrice(subscription, price.id, account);
  const observation = await callStripe(() => fetchObservation(subscription.id, account));
  const [registered] = await recordStripePurchases(observation ? [observation] : [], context);
  const known: ActiveGrant = { ...grant, customer, subscription: subscription.id };
  return {
    ...(registered && { purchase: toPurchaseWithOffer(registered.purchase, deps.now()) }),
    newAccessToken: await deps.accessTokens.rotate(app.name, { token, grant: known }, deps.now()),
  };
}

async function findOwnSubscription(
  { id, purchaseId }: ContractBody<typeof changePlan>,
  grant: ActiveGrant,
  account: StripeAccount,
): Promise<{ customer: string; subscription: Subscription }> {
  const customer = await findStripeCustomerId(grant, account);
  if (customer === undefined)
    throw new ServiceError('InvalidPayload', 'Nothing was bought with this access token yet.');
  const named = id ?? purchaseId ?? grant.subscription;
  const own = named === undefined ? undefined : await authorizeSubscriptionId(named, customer, account);
  const subscription = await callStripe(async () =>
    own === undefined
      ? (await listSubscriptions(account.stripe, customer)).find(({ status }) => changeableStatuses.includes(status))
      : await fetchSubscription(account.stripe, own),
  );
  if (!subscription || !changeableStatuses.includes(subscription.status)) {
    throw new ServiceError('InvalidPayload', 'There is no running subscription to change.');
  }
  return { customer, subscription };
}

async function updateSubscriptionPrice(
  subscription: Subscription,
  price: string,
  { stripe }: StripeAccount,
): Promise<void> {
  const [item] = subscription.items.data;
  if (!item) throw new ServiceError('ConnectionFailed', 'The subscription came without its items.');
  await callStripe(() =>
    stripe.subscriptions.update(subscription.id, {
      items: [{ id: item.id, price }],
      proration_behavior: 'always_invoice',
      // Without the payment there is no other plan.
      payment_behavior: 'error_if_incomplete',
    }),
  );
}
