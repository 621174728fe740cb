import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import type { AccountState } from './account-state.ts';

/** A state change of a subscription. Returns the id of the purchase. */
export type SubscriptionTransition = (
  state: AccountState,
  subscription: Stripe.Subscription,
  at: number,
  details: ActionBody,
) => string;

/** Whether the current period is paid or free. */
export const isRunning = ({ status }: Stripe.Subscription): boolean => status === 'active' || status === 'trialing';

export const isEnded = ({ status }: Stripe.Subscription): boolean =>
  status === 'canceled' || status === 'incomplete_expired';
