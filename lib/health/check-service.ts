import type { App } from '../apps/app.ts';
import { isReviewDue, ratesReviewedOn } from '../apps/commission-rates.ts';
import type { Cipher } from '../foundation/cipher.ts';
import { measureSlowReads } from '../foundation/measure-slow-reads.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs, minuteMs, secondMs } from '../foundation/time.ts';
import { formatDuration } from './clock.ts';
import { describeError } from './describe-error.ts';
import { createFinding, type Finding } from './finding.ts';
import { findLateItems, findLatestRateDay } from './health-table.ts';

/** Finds a table whose reads take much longer than usual. */
export async function checkTableReads(service: Service): Promise<readonly Finding[]> {
  const slowReadMs = await measureSlowReads(service);
  if (slowReadMs === undefined) return [];
  return [
    createFinding('table-slow', {
      problem: `A read of the table takes ${(slowReadMs / secondMs).toFixed(1)} s instead of some milliseconds, so requests are late or fail.`,
      cure: 'Check DynamoDB on the AWS Health Dashboard, and the network between this machine and the region. With `npm start`, check the load of this machine.',
    }),
  ];
}

/**
 * `enqueue-due-items` runs every minute and leases an item for ten minutes, so only items that it has missed are older.
 */
const maxDueDelayMs = 5 * minuteMs;
const maxCountedItems = 1_000;

/** Finds due items that are not enqueued. */
export async function checkDueItems(service: Service): Promise<readonly Finding[]> {
  const late = await findLateItems(service, service.now() - maxDueDelayMs, maxCountedItems);
  if (!late) return [];
  const count = late.count < maxCountedItems ? late.count : `At least ${maxCountedItems}`;
  return [
    createFinding('due-items-late', {
      problem: `${count} refreshes or webhook retries are due and not enqueued, the oldest for ${formatDuration(service.now() - late.oldestDueAt)}, so renewals, expirations and webhooks are late.`,
      cure: 'Check the log and the schedule of the function enqueue-due-items. Due items are enqueued when it runs again.',
    }),
  ];
}

/**
 * The central bank publishes on working days, with pauses of up to five days. A purchase is converted at rates of ten
 * days.
 */
const maxRateAgeMs = 7 * dayMs;

/** The first rates are loaded within six hours. */
const firstLoadMs = 8 * hourMs;

/** Finds exchange rates that `load-exchange-rates` has stopped loading. `apps` show whether the deployment is new. */
export async function checkExchangeRates(
  service: Service,
  apps: readonly Pick<App, 'createdAt'>[],
): Promise<readonly Finding[]> {
  const day = await findLatestRateDay(service);
  if (day !== undefined && service.now() - Date.parse(day) <= maxRateAgeMs) return [];
  const isNew = day === undefined && apps.every(({ createdAt }) => service.now() - createdAt < firstLoadMs);
  if (isNew)
    return [
      createFinding('exchange-rates-missing', {
        problem: 'Exchange rates are not loaded yet, so fallback rates apply.',
        cure: 'Wait for the function load-exchange-rates, which runs every six hours.',
      }),
    ];
  return [
    createFinding('exchange-rates-old', {
      problem:
        day === undefined
          ? 'Exchange rates have never been loaded, so amounts in US dollars are missing or use fallback rates.'
          : `The latest exchange rates are of ${day}, so amounts in US dollars are missing or use old rates.`,
      cure: 'Check the log of the function load-exchange-rates and whether it can reach www.ecb.europa.eu.',
    }),
  ];
}

/** Finds a table of commissions that was not compared with the pages of the stores for more than 100 days. */
export const checkCommissionRates = (now: EpochMillis): readonly Finding[] =>
  isReviewDue(now)
    ? [
        createFinding('commission-rates-old', {
          problem: `The default rates of commission were last compared with the stores on ${ratesReviewedOn}, so proceeds can be wrong.`,
          cure: 'Deploy a newer version, or set the rates of your apps with `app set-commission-rates`.',
        }),
      ]
    : [];

/** Encrypts and decrypts with the master key. Returns the finding if that fails. */
export async function checkMasterKey({ cipher }: { readonly cipher: Cipher }): Promise<readonly Finding[]> {
  const context = 'health/check';
  try {
    await cipher.decrypt(await cipher.encrypt(context, context), context);
    return [];
  } catch (error) {
    return [
      createFinding('master-key-unreadable', {
        problem: `The master key cannot be read: ${describeError(error)}. Functions that cannot read it neither query stores nor send webhooks.`,
        cure: 'Check the secret of the stack output MasterKeyId: `aws secretsmanager restore-secret` restores a deleted one. Your role and the functions need secretsmanager:GetSecretValue, and kms:Decrypt for a key of your own.',
      }),
    ];
  }
}
