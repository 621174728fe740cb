import type { EpochMillis } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';

/** What the latest deliveries say about a webhook URL. */
export interface UrlSuccess {
  readonly numDeliveries: number;
  /** Those that wait for a retry or are dead. */
  readonly numFailed: number;
  /** Set while attempts fail in succession, without a successful one between them. */
  readonly failing?: { readonly since: EpochMillis; readonly message: string };
}

/** A restart of the server can fail one attempt. */
const minFailedAttempts = 2;

type AttemptedDelivery = WebhookDelivery & { readonly lastAttemptAt: EpochMillis };

const isAttempted = (delivery: WebhookDelivery): delivery is AttemptedDelivery => delivery.lastAttemptAt !== undefined;

/** Summarizes the attempted deliveries of a URL. */
export function summarizeUrl(deliveries: readonly WebhookDelivery[], url: string): UrlSuccess {
  const attempted = deliveries
    .filter((delivery) => delivery.url === url)
    .filter(isAttempted)
    .toSorted((a, b) => b.lastAttemptAt - a.lastAttemptAt);
  const latestSuccess = attempted.findIndex(({ state }) => state === 'delivered');
  const successAt = attempted[latestSuccess]?.lastAttemptAt ?? 0;
  const failed = latestSuccess === -1 ? attempted : attempted.slice(0, latestSuccess);
  const [latest] = failed;
  const counts = {
    numDeliveries: attempted.length,
    numFailed: attempted.filter(({ state }) => state !== 'delivered').length,
  };
  if (!latest || countAttempts(failed, successAt) < minFailedAttempts) return counts;
  const since = Math.min(...failed.map(({ createdAt }) => Math.max(createdAt, successAt)));
  return { ...counts, failing: { since, message: latest.failureReason ?? '' } };
}

/** Counts the failed attempts after the latest success: at least one of each delivery. */
const countAttempts = (failed: readonly AttemptedDelivery[], successAt: EpochMillis): number =>
  failed.reduce((total, { createdAt, failedAttempts }) => total + (createdAt > successAt ? failedAttempts : 1), 0);
