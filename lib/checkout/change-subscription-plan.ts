import type { ContractBody } from '../api/contract.ts';
import { type ActiveGrant, rotateAccessToken } from '../customers/access-token-table.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { ServiceError } from '../foundation/errors.ts';
import { unavailableError } from '../stores/stripe/api-errors.ts';
import { fetchObservations } from '../stores/stripe/fetch-observations.ts';
import { getPriceProductId } from '../stores/stripe/mapping-context.ts';
import type { Price, Subscription } from '../stores/stripe/payloads.ts';
import type { StripeAccount } from '../stores/stripe/stripe-account.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import { fetchSubscription, listSubscriptions } from '../stores/stripe/stripe-queries.ts';
import { listBilledItems } from '../stores/stripe/subscription-items.ts';
import { authorizeSubscriptionId } from './authorize-subscription.ts';
import { openCheckoutAccount, requireAccessGrant, requireStripeCustomerId } from './checkout-context.ts';
import type { changePlan, PurchaseWithOffer } from './contract.ts';
import { findOfferPrice } from './price-list.ts';
import { recordStripePurchases, toPurchaseWithOffer } from './record-stripe-purchases.ts';

const changeableStatuses = ['active', 'trialing', 'past_due'];

/**
 * Changes the price of the customer's subscription, charges or credits the difference immediately and rotates the
 * token.
 */
export async function changeSubscriptionPlan(
  context: OperationContext,
  request: ContractBody<typeof changePlan>,
): Promise<{ readonly purchase?: PurchaseWithOffer; readonly newAccessToken: string }> {
  const { app, service } = context;
  const { accessToken: token } = request;
  const grant = await requireAccessGrant(context, token);
  const account = await openCheckoutAccount(context, grant.platform);
  const { customer, subscription } = await findOwnSubscription(request, grant, account);
  const { price } = await findOfferPrice(request.offerId, account);
  if (!price.recurring) throw new ServiceError('InvalidPayload', 'offerId must be the offer of a subscription.');
  await updateSubscriptionPrice(subscription, price, account);
  const observations = await callStripe(() => fetchObservations(subscription.id, account));
  const purchases = await recordStripePurchases(context, observations);
  const recorded = purchases.find(({ purchase }) => purchase.offerId?.endsWith(`#${price.id}`)) ?? purchases[0];
  const newGrant: ActiveGrant = { ...grant, customer, subscription: subscription.id };
  return {
    ...(recorded && { purchase: toPurchaseWithOffer(recorded.purchase, service.now()) }),
    newAccessToken: await rotateAccessToken(service, app.name, { token, grant: newGrant }, service.now()),
  };
}

async function findOwnSubscription(
  { id, purchaseId }: ContractBody<typeof changePlan>,
  grant: ActiveGrant,
  account: StripeAccount,
): Promise<{ customer: string; subscription: Subscription }> {
  const customer = await requireStripeCustomerId(grant, account);
  const requestedId = id ?? purchaseId ?? grant.subscription;
  const ownId = requestedId === undefined ? undefined : await authorizeSubscriptionId(requestedId, customer, account);
  const subscription = await callStripe(async () =>
    ownId === undefined
      ? (await listSubscriptions(account.stripe, customer)).find(({ status }) => changeableStatuses.includes(status))
      : await fetchSubscription(account.stripe, ownId),
  );
  if (!subscription || !changeableStatuses.includes(subscription.status)) {
    throw new ServiceError('InvalidPayload', 'An active subscription is not found.');
  }
  return { customer, subscription };
}

/**
 * Changes the price of the item with the same product, otherwise of the main item.
 *
 * @see https://docs.stripe.com/billing/subscriptions/prorations
 */
async function updateSubscriptionPrice(
  subscription: Subscription,
  price: Price,
  { stripe, findStoredProductId }: StripeAccount,
): Promise<void> {
  const items = subscription.items.data;
  const mainProductId = items.length > 1 ? await findStoredProductId(subscription.id) : undefined;
  const [main] = listBilledItems(subscription, [], mainProductId);
  const sameProduct = items.find((item) => getPriceProductId(item.price) === getPriceProductId(price));
  const item = sameProduct ?? main?.current;
  if (!item) throw unavailableError('The subscription does not have items.');
  await callStripe(() =>
    stripe.subscriptions.update(subscription.id, {
      items: [{ id: item.id, price: price.id }],
      proration_behavior: 'always_invoice',
      // Keeps the current plan if the payment fails.
      payment_behavior: 'error_if_incomplete',
    }),
  );
}
