import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import type { StoreValidation } from '../stores/store.ts';

/** The result of a validation, before it is converted into a response. */
export interface ValidationOutcome {
  readonly validation: StoreValidation;
  /** The stored purchases, which can be newer than the evidence. */
  readonly purchases: readonly EntitledPurchase[];
  /** The requested purchase as it was before this service consumed or acknowledged it. */
  readonly requestedPurchase?: EntitledPurchase;
}
