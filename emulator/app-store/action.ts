import type { ActionBody } from '../purchase-order.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import type { Purchase } from './records.ts';
import type { StoreState } from './store-state.ts';

/** Action on a purchase and on its family shares. */
export interface Action {
  readonly apply: (purchase: Purchase, context: TransitionContext, details: ActionBody) => Transition;
  /**
   * Transition of the shares at the same time; absent if the action does not affect them. `details` has the owner's
   * transaction.
   */
  readonly applyToShares?: Action['apply'];
  /** Selects the shares. Default: those that follow the owner's purchase. */
  readonly listShares?: (state: StoreState, owner: Purchase) => Purchase[];
}
