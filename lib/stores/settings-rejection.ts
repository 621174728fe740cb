import { ServiceError } from '../foundation/errors.ts';

/**
 * Why a store rejects the settings of an app:
 * - `credentials`: the key or secret is wrong or revoked, or belongs to a different account.
 * - `expired`: the key or secret has expired.
 * - `permission`: the credentials are valid, and lack access or a permission.
 * - `app`: the store does not have the app, client or merchant.
 * - `apiDisabled`: the developer has not enabled the API.
 * - `plan`: the catalogue names a plan that the store lacks.
 * - `clock`: the clock of this machine is wrong.
 */
export type RejectionKind = 'credentials' | 'expired' | 'permission' | 'app' | 'apiDisabled' | 'plan' | 'clock';

/** A rejection of settings. It is the cause of an `InternalError`, which clients see without it. */
export interface SettingsRejection extends Error {
  readonly rejection: RejectionKind;
}

/** Creates a rejection. `detail` is for logs and operators, such as a status, and contains no secret. */
export const createRejection = (rejection: RejectionKind, detail: string): SettingsRejection =>
  Object.assign(new Error(detail), { rejection });

/** Returns the rejection that caused an error. */
export function findRejection(error: unknown): SettingsRejection | undefined {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  return cause instanceof Error && 'rejection' in cause ? (cause as SettingsRejection) : undefined;
}

/** A fault with its cure, each a sentence for operators. They can contain ids of the settings, and no secrets. */
export interface Diagnosis {
  readonly problem: string;
  readonly cure: string;
}

/** A problem of settings that the store accepts. */
export interface SettingsWarning extends Diagnosis {
  readonly code: SettingsWarningCode;
}

/**
 * - `not-released`: the store accepts the key in its sandbox only.
 * - `notifications-unverifiable`: settings to verify notifications are missing, so all are rejected.
 * - `orders-unreadable`: amounts and refunds cannot be read.
 * - `clawbacks-unreadable`: refunds cannot be read.
 * - `no-credentials`: purchases are verified by their signatures only.
 */
type SettingsWarningCode =
  | 'not-released'
  | 'notifications-unverifiable'
  | 'orders-unreadable'
  | 'clawbacks-unreadable'
  | 'no-credentials';
