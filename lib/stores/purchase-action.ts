import type { ActionName } from '../api/schemas.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';

/** An action as adapters know it: `defer` is `extend`. */
export type StoreAction = Exclude<ActionName, 'defer'>;

/** The stored state that decides about the actions. */
export interface ActionSubject {
  readonly purchase: Purchase;
  /** Payment to refund. Undefined if no payment is left to refund. */
  readonly payment?: Transaction;
  readonly now: EpochMillis;
}

/** A possible action. */
export interface PossibleAction {
  /** A sentence for support about the change at the store. */
  readonly effect: string;
  /** Maximum number of days by which the store moves the end. */
  readonly maxDays?: number;
  /** The store refunds a part of a payment. */
  readonly allowsPart?: boolean;
}

export type ActionVerdict = PossibleAction | { readonly why: string };
export type ActionVerdicts = Readonly<Record<StoreAction, ActionVerdict>>;

export const isPossible = (verdict: ActionVerdict): verdict is PossibleAction => 'effect' in verdict;

/** An action that the adapter performs at the store. */
export interface ActionRequest {
  readonly action: StoreAction;
  readonly purchase: Purchase;
  readonly payment?: Transaction;
  /** Data with which the store is queried for the purchase. */
  readonly refreshToken: Readonly<Record<string, string>>;
  /** Amount to refund: a part, or what is left of the payment. Undefined if the store does not report the amount. */
  readonly amountMicros?: number;
  /** `amountMicros` is less than what is left. */
  readonly isPart: boolean;
  readonly days?: number;
  /** Customer of `set-account`. */
  readonly account?: string;
  readonly reason: string;
  /** Idempotency key for the store: a UUID, the same for all attempts of an action. */
  readonly requestId: string;
}

/** The store's response to an action. */
export interface StoreAnswer {
  /** In the store's terms, such as `succeeded`. */
  readonly status: string;
  /** Id of the new object at the store, such as a refund. */
  readonly id?: string;
  readonly amountMicros?: number;
  readonly currency?: string;
  /** New end of the paid period, in ISO 8601. */
  readonly until?: string;
}

/** Creates the error of an action that the store rejects and would reject again. */
export const rejectedActionError = (storeName: string, detail: string): ServiceError =>
  new ServiceError('Conflict', `${storeName} rejects the action: ${detail}`, { retryable: false, isPermanent: true });
