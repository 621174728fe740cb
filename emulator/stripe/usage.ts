import { controlError } from '../control-error.ts';
import { requirePossible } from './account-state.ts';
import { isMetered } from './catalogue.ts';
import type { SubscriptionTransition } from './subscription-status.ts';

/**
 * Records units that a customer has used in the current period. They are billed when the period ends.
 *
 * @see https://docs.stripe.com/billing/subscriptions/usage-based
 */
export const reportUsage: SubscriptionTransition = ({ records }, { id, items }, _at, { quantity }) => {
  if (quantity === undefined) throw controlError(400, 'quantity is missing.');
  const item = items.data.find(({ price }) => isMetered(price));
  requirePossible(item !== undefined, id, 'does not have a metered price');
  records.usage.set(item.id, (records.usage.get(item.id) ?? 0) + quantity);
  return id;
};
