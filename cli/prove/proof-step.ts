import type { LifecycleReason } from '../../lib/purchases/lifecycle-reasons.ts';
import type { PurchaseDetails } from '../../lib/purchases/purchase-contract.ts';

/** The steps of a proof, in their order: all concern the subscription that `buy` creates. */
export const stepNames = ['buy', 'renew', 'grace', 'recover', 'cancel', 'restore', 'refund'] as const;
export type StepName = (typeof stepNames)[number];

/** A step in the sandbox of a store, and what its documents lead to expect. */
export interface ProofStep {
  readonly name: StepName;
  /** What the owner does. */
  readonly instruction: string;
  /** The document of the store that describes the step and its notification. */
  readonly document: string;
  /** Native types of which one arrives. Empty if the store does not notify: it is queried then. */
  readonly notifications: readonly string[];
  /** Lifecycle reasons of which one is announced. Empty if the step does not change the purchase. */
  readonly reasons: readonly LifecycleReason[];
  /** Fields of the purchase in the API. */
  readonly state: Partial<PurchaseDetails>;
  /** The purchase expires later than before. */
  readonly isExtended?: true;
  /** The step happens without the owner, such as a renewal. */
  readonly isAutomatic?: true;
  /** Actions of the store emulator, which lacks an owner. */
  readonly emulatorActions: readonly string[];
}

/** The guide for one store. */
export interface ProofGuide {
  /** Set-up before the first step. */
  readonly preparations: readonly string[];
  readonly steps: readonly ProofStep[];
}
