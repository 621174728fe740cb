import type { LifecycleReason } from '../../lib/purchases/lifecycle-reasons.ts';
import type { PurchaseDetails } from '../../lib/purchases/purchase-contract.ts';

/** The steps of a proof, in their order: all concern the subscription that `buy` creates. */
export const stepNames = ['buy', 'renew', 'grace', 'recover', 'cancel', 'restore', 'refund'] as const;
export type StepName = (typeof stepNames)[number];

/** What a store does in a step, and what its documents lead to expect. */
interface StoreStep {
  /** What the owner does. */
  readonly instruction: string;
  /** The document of the store that describes the step and its notification. */
  readonly document: string;
  /** Native types of which one arrives. Default: the store does not notify, and is queried. */
  readonly notifications?: readonly string[];
}

/** What a step leads to at each store, unless the guide of the store says otherwise. */
interface Expectation {
  /** Lifecycle reasons of which one is announced. Empty if the step does not change the purchase. */
  readonly reasons: readonly LifecycleReason[];
  /** Fields of the purchase in the API. */
  readonly state: Partial<PurchaseDetails>;
  /** The purchase expires later than before. */
  readonly isExtended?: boolean;
  /** The step happens without the owner, such as a renewal. */
  readonly isAutomatic?: boolean;
  /** Actions of the store emulator, which lacks an owner. */
  readonly emulatorActions: readonly string[];
}

const expectations: Readonly<Record<StepName, Expectation>> = {
  buy: { reasons: ['PURCHASED'], state: { isExpired: false, renewalIntent: 'Renew' }, emulatorActions: [] },
  renew: {
    reasons: ['RENEWED'],
    state: { isExpired: false, renewalIntent: 'Renew' },
    isExtended: true,
    isAutomatic: true,
    emulatorActions: ['renew'],
  },
  grace: {
    reasons: ['ENTERED_GRACE_PERIOD'],
    state: { isExpired: false, isBillingRetryPeriod: true },
    emulatorActions: ['fail-payment'],
  },
  recover: {
    reasons: ['RENEWED'],
    state: { isExpired: false, isBillingRetryPeriod: false },
    emulatorActions: ['recover'],
  },
  cancel: {
    reasons: ['WILL_LAPSE'],
    state: { isExpired: false, renewalIntent: 'Lapse' },
    emulatorActions: ['cancel'],
  },
  restore: { reasons: [], state: { isExpired: false }, emulatorActions: [] },
  refund: { reasons: ['REFUNDED', 'REVOKED'], state: { isExpired: true }, emulatorActions: ['refund'] },
};

/** A step in the sandbox of a store. */
export interface ProofStep extends Required<StoreStep>, Expectation {
  readonly name: StepName;
}

export interface ProofGuide {
  /** Set-up before the first step. */
  readonly preparations: readonly string[];
  readonly steps: readonly ProofStep[];
}

/** Adds the expectations of all stores to the steps of one. */
export const createGuide = ({
  preparations,
  steps,
}: {
  readonly preparations: readonly string[];
  readonly steps: Readonly<Record<StepName, StoreStep & Partial<Expectation>>>;
}): ProofGuide => ({
  preparations,
  steps: stepNames.map((name) => ({ name, notifications: [], ...expectations[name], ...steps[name] })),
});
