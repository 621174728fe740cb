import type Stripe from 'stripe';
import { secondMs } from '../calendar.ts';
import type { ActionBody } from '../purchase-order.ts';
import type { AccountState } from './account-state.ts';

/** A state change of a subscription. Returns the id of the purchase. */
export type SubscriptionTransition = (
  state: AccountState,
  subscription: Stripe.Subscription,
  at: number,
  details: ActionBody,
) => string;

/** Returns an overdue subscription that has paid its latest invoice. A trial that was granted before goes on. */
export const withoutDebt = (subscription: Stripe.Subscription, at: number): Stripe.Subscription => ({
  ...subscription,
  status: (subscription.trial_end ?? 0) * secondMs > at ? 'trialing' : 'active',
});

/** The current period is paid or free. */
export const isRunning = ({ status }: Stripe.Subscription): boolean => status === 'active' || status === 'trialing';

export const isEnded = ({ status }: Stripe.Subscription): boolean =>
  status === 'canceled' || status === 'incomplete_expired';
