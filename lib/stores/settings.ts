import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { parse } from '../foundation/parse.ts';
import type { Platform } from '../foundation/platform.ts';

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

/**
 * Creates the parsers of a store's settings.
 * - `parseStoredSettings` throws `InternalError` if they are missing or invalid, because only the operator can correct
 *   them. Missing settings are not a failure of the service: every holder of the public key can request a store that
 *   the app does not use.
 * - `parseEnteredSettings` throws `InvalidPayload` with the name of the invalid field, or the error from `check`.
 */
export const createSettingsParsers = <const S extends v.GenericSchema>(
  platform: Platform,
  schema: S,
  check?: (settings: v.InferOutput<S>) => void,
) => ({
  parseStoredSettings(settings: unknown): v.InferOutput<S> {
    if (isMissing(settings)) {
      throw new ServiceError('InternalError', `The app has no ${platform} settings.`, { retryable: false });
    }
    const result = v.safeParse(schema, trimTexts(settings));
    if (result.success) return result.output;
    const cause = result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.expected}`).join('; ');
    throw new ServiceError('InternalError', `The ${platform} settings of the app are not valid.`, { cause });
  },
  parseEnteredSettings(settings: unknown): v.InferOutput<S> {
    if (isMissing(settings)) throw new ServiceError('InvalidPayload', `The app has no ${platform} settings.`);
    const entered = parse(schema, trimTexts(settings));
    check?.(entered);
    return entered;
  },
});

/**
 * Removes the white space around all texts, which a copied key, id or file can have: line ends, and the byte order mark
 * of an editor.
 */
function trimTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.trim(), trimTexts(member)]));
}

const isMissing = (settings: unknown): boolean => settings === undefined || settings === null;

/**
 * Returns what a private key in PEM lacks if its white space was changed on the way from the file to the settings.
 * Returns an empty text for every other key.
 */
export function describeKeyFault(pem: string): string {
  const [, begin = '', body = '', end = ''] = pem.split('-----');
  if (!begin.startsWith('BEGIN ') || !end.startsWith('END')) return '';
  if (body.includes('\\n')) return ', with line ends instead of the characters \\n';
  if (/[^\S\r\n]/.test(body)) return ', with line ends instead of spaces';
  return /^\r?\n[\s\S]*\n$/.test(body) ? '' : ', with its line ends';
}

/** Creates a rejection. `detail` is for logs and operators, such as a status, and contains no secret. */
export const createRejection = (rejection: RejectionKind, detail: string): SettingsRejection =>
  Object.assign(new Error(detail), { rejection });

/** Returns the rejection that caused an error. */
export function findRejection(error: unknown): SettingsRejection | undefined {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  return cause instanceof Error && 'rejection' in cause ? (cause as SettingsRejection) : undefined;
}
