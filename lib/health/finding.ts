import type { Platform } from '../foundation/platform.ts';
import type { Diagnosis } from '../stores/settings.ts';

/**
 * - `error`: customers or apps are affected now, or will be without a correction.
 * - `warning`: something is missing, late or unprotected.
 * - `note`: a fact that can be intended.
 */
export type Severity = 'error' | 'warning' | 'note';

/** All findings with their severity. docs/operating/findings.md explains each of them. */
export const findingSeverities = {
  'store-settings-invalid': 'error',
  'store-settings-unreadable': 'error',
  'store-credentials-rejected': 'error',
  'store-credentials-expired': 'error',
  'store-permission-missing': 'error',
  'store-app-unknown': 'error',
  'store-api-disabled': 'error',
  'store-plan-unknown': 'error',
  'store-unavailable': 'warning',
  'store-notifications-unverifiable': 'error',
  'store-orders-unreadable': 'warning',
  'store-clawbacks-unreadable': 'warning',
  'store-keys-expired': 'warning',
  'store-no-credentials': 'note',
  'store-not-released': 'note',
  'stores-missing': 'note',
  'notifications-never-received': 'warning',
  'notifications-undelivered': 'warning',
  'notifications-url-missing': 'warning',
  'notifications-test-failed': 'warning',
  'notifications-elsewhere': 'note',
  'notifications-endpoint-disabled': 'error',
  'notifications-endpoint-incomplete': 'warning',
  'webhook-url-missing': 'warning',
  'webhook-url-off': 'note',
  'webhook-url-not-allowed': 'error',
  'webhook-url-disabled': 'error',
  'webhook-url-unresponsive': 'warning',
  'webhook-deliveries-failing': 'warning',
  'webhook-deliveries-dead': 'warning',
  'webhook-secrets-unreadable': 'error',
  'credits-never-spent': 'warning',
  'api-key-expiring': 'warning',
  'api-key-expired': 'warning',
  'app-unreadable': 'error',
  'clock-wrong': 'error',
  'master-key-unreadable': 'error',
  'due-items-late': 'error',
  'exchange-rates-old': 'warning',
  'exchange-rates-missing': 'note',
  'commission-rates-old': 'note',
  'dead-letters': 'error',
  'stream-records-discarded': 'error',
  'worker-not-invoked': 'error',
  'alarm-subscription-missing': 'warning',
  'alarm-subscription-unconfirmed': 'warning',
  'concurrency-quota-low': 'warning',
  'concurrency-quota-small': 'note',
  'bootstrap-missing': 'error',
  'stack-name-taken': 'error',
  'domain-name-taken': 'error',
  'stack-failed': 'error',
  'table-unavailable': 'error',
  'table-slow': 'warning',
  'table-recovery-off': 'warning',
  'table-deletable': 'warning',
  'table-ttl-off': 'warning',
  'table-stream-off': 'error',
  'table-stream-replaced': 'error',
  'table-index-missing': 'error',
  'table-version-old': 'warning',
  'table-version-unsupported': 'error',
  'api-unreachable': 'error',
  'version-different': 'note',
  'check-failed': 'warning',
} as const satisfies Record<string, Severity>;

export type FindingCode = keyof typeof findingSeverities;

/** Something that is wrong in the service. */
export interface Finding extends Diagnosis {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** Absent for a finding about the whole service. */
  readonly app?: string;
  readonly platform?: Platform;
}

/** Completes the command of the cure with the app and the store, so that an operator can paste it. */
export const completeCommand = (finding: Finding): Finding => {
  const { app, platform, cure } = finding;
  if (app === undefined || platform === undefined) return finding;
  return { ...finding, cure: cure.replace('`app set-store`', `\`app set-store ${app} ${platform} <file>\``) };
};

/** The app and the store of a finding. */
export type FindingScope = Pick<Finding, 'app' | 'platform'>;

/** Creates a finding. The code determines its severity. */
export const createFinding = (code: FindingCode, diagnosis: Diagnosis, scope: FindingScope = {}): Finding => ({
  code,
  severity: findingSeverities[code],
  ...scope,
  problem: diagnosis.problem,
  cure: diagnosis.cure,
});
