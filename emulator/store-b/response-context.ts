import type { Keys } from './keys.ts';
import type { StoreState } from './store-state.ts';

/** What the answers of the store are made from. */
export interface ResponseContext {
  readonly state: StoreState;
  readonly keys: Keys;
  readonly now: () => number;
}
