import type { App } from '../apps/app.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, toIso } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import { toDisplayUrl } from './display-url.ts';
import { listDeliveryPage } from './list-deliveries.ts';

/** The deliveries that a list reads for one page. */
const maxDeliveries = 1_000;
const defaultDays = 7;

interface Period {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

/** Summarizes the newest deliveries of the period, at most 1,000, for each URL that they or the settings name. */
export async function readWebhookStats(service: Service, { name, webhookSettings }: App, period: Period) {
  const { startdate = service.now() - defaultDays * dayMs, enddate } = period;
  const page = await listDeliveryPage(service, name, { startdate, enddate, limit: maxDeliveries });
  const deliveries = page.rows.filter(({ state }) => state !== 'redirected');
  const { urls = [], sandboxUrls = [] } = webhookSettings ?? {};
  const listed = new Set([...urls, ...sandboxUrls, ...deliveries.map(({ url }) => url)]);
  const countedFrom = page.next === undefined ? startdate : (page.rows.at(-1)?.createdAt ?? startdate);
  return {
    countedFrom: toIso(countedFrom),
    isComplete: page.next === undefined,
    rows: [...listed].map((url) => toRow(url, deliveries)),
  };
}

function toRow(url: string, deliveries: readonly WebhookDelivery[]) {
  // A delivery to a disabled URL is dead without an attempt.
  const own = deliveries
    .filter((delivery) => delivery.url === url)
    .filter(({ state, lastAttemptAt }) => state === 'dead' || lastAttemptAt !== undefined)
    .map(({ lastAttemptAt, ...delivery }) => ({ ...delivery, date: lastAttemptAt ?? delivery.createdAt }))
    .sort((a, b) => b.date - a.date);
  const failed = own.filter(({ state }) => state !== 'delivered');
  const durations = own
    .filter(({ state }) => state === 'delivered')
    .map(({ createdAt, date }) => date - createdAt)
    .sort((a, b) => a - b);
  const [latest] = failed;
  return {
    url: toDisplayUrl(url),
    numDeliveries: own.length,
    numFailed: failed.length,
    failedAttempts: own.reduce((sum, { failedAttempts }) => sum + failedAttempts, 0),
    ...(durations.length > 0 && { medianMs: pickRank(durations, 0.5), percentile95Ms: pickRank(durations, 0.95) }),
    ...(latest && {
      lastFailure: {
        deliveryId: latest.deliveryId,
        date: toIso(latest.date),
        message: latest.failureReason ?? '',
      },
    }),
  };
}

/** Returns the smallest value that the share of all values does not exceed. */
const pickRank = (sorted: readonly number[], share: number): number =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
