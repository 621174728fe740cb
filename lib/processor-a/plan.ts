import type { BodyOf } from '../api/contract.ts';
import type { changePlan, OfferedPurchase } from '../api/processor-a.ts';
import type { LiveGrant } from '../db/access-tokens.ts';
import { ServiceError } from '../errors.ts';
import { answered } from '../stores/processor-a/client.ts';
import { type Look, lookAt } from '../stores/processor-a/looks.ts';
import type { Subscription } from '../stores/processor-a/objects.ts';
import { readSubscription, subscriptionsOf } from '../stores/processor-a/reads.ts';
import { offeredPurchase, registerBought } from './bought.ts';
import { ownSubscriptionId } from './own-ids.ts';
import { offeredPrice } from './prices.ts';
import { accountOf, buyerOf, grantOf, type Selling } from './selling.ts';

/** Subscriptions in these states can be changed. */
const running = ['active', 'trialing', 'past_due'];

/** Switches the buyer's subscription to another price, charges or credits the difference now, and changes the token. */
export async function switchPlan(
  wish: BodyOf<typeof changePlan>,
  selling: Selling,
): Promise<{ readonly purchase?: OfferedPurchase; readonly newAccessToken: string }> {
  const { app, deps } = selling;
  const token = wish.accessToken;
  const grant = await grantOf(deps.accessTokens.find(app.name, token, deps.now()));
  const look = await accountOf(selling, grant.platform);
  const { customer, subscription } = await subscriptionOf(wish, grant, look);
  const { price } = await offeredPrice(wish.offerId, look);
  if (!price.recurring) throw new ServiceError('InvalidPayload', 'offerId: this offer is no subscription.');
  await update(subscription, price.id, look);
  const seen = await answered(() => lookAt(subscription.id, look));
  const [registered] = await registerBought(seen ? [seen] : [], selling);
  const known: LiveGrant = { ...grant, customer, subscription: subscription.id };
  return {
    ...(registered && { purchase: offeredPurchase(registered.purchase, deps.now()) }),
    newAccessToken: await deps.accessTokens.rotate(app.name, { token, grant: known }, deps.now()),
  };
}

async function subscriptionOf(
  { id, purchaseId }: BodyOf<typeof changePlan>,
  grant: LiveGrant,
  look: Look,
): Promise<{ customer: string; subscription: Subscription }> {
  const customer = await buyerOf(grant, look);
  if (customer === undefined)
    throw new ServiceError('InvalidPayload', 'Nothing was bought with this access token yet.');
  const named = id ?? purchaseId ?? grant.subscription;
  const own = named === undefined ? undefined : await ownSubscriptionId(named, customer, look);
  const subscription = await answered(async () =>
    own === undefined
      ? (await subscriptionsOf(look.stripe, customer)).find(({ status }) => running.includes(status))
      : await readSubscription(look.stripe, own),
  );
  if (!subscription || !running.includes(subscription.status)) {
    throw new ServiceError('InvalidPayload', 'There is no running subscription to change.');
  }
  return { customer, subscription };
}

async function update(subscription: Subscription, price: string, { stripe }: Look): Promise<void> {
  const [item] = subscription.items.data;
  if (!item) throw new ServiceError('ConnectionFailed', 'The subscription came without its items.');
  await answered(() =>
    stripe.subscriptions.update(subscription.id, {
      items: [{ id: item.id, price }],
      proration_behavior: 'always_invoice',
      // Without the payment there is no other plan.
      payment_behavior: 'error_if_incomplete',
    }),
  );
}
