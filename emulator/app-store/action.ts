import type { ActionBody } from '../purchase-order.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/** Action on a purchase and on its family shares. */
export interface Action {
  readonly apply: (purchase: Purchase, context: TransitionContext, details: ActionBody) => Transition;
  /** Transition of the shares at the same time; absent if the action does not affect them. */
  readonly applyToShares?: Action['apply'];
}
