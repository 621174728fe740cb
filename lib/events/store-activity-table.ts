import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type ErrorCode, reportsInvalidSettings } from '../foundation/errors.ts';
import { timestampRange, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { Platform, storeNames } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { dayMs, type EpochMillis, minuteMs } from '../foundation/time.ts';
import type { EventRecord, RawEvent } from './event.ts';

/** Kinds of a store's activity, each with the time of the latest one. */
const activityKinds = ['notification', 'success', 'failure', 'expiredKey', 'rejection', 'accepted'] as const;
type ActivityKind = (typeof activityKinds)[number];

/**
 * A notification of a store, a usable or unusable response to a request, a refresh that is not possible until the
 * customer's device sends a new key, or settings that the store has rejected or, in a check, accepted.
 */
export interface StoreActivity {
  readonly platform: Platform;
  readonly kind: ActivityKind;
  readonly date: EpochMillis;
  /** Why a response is unusable, or which key is missing. */
  readonly problem?: string;
}

/** Requests to a store that a process made since its last sample. */
export interface StoreRequestSample {
  readonly platform: Platform;
  /** End of the last request. */
  readonly date: EpochMillis;
  readonly numRequests: number;
  /** Requests without a usable response. */
  readonly numFailures: number;
  /** Durations in milliseconds of requests with a usable response, at most as many as a metric has values. */
  readonly durationsMs: readonly number[];
}

/** Requests to a store within a day. */
interface StoreRequests {
  readonly numRequests: number;
  readonly numFailures: number;
}

const ActivityItem = v.object({
  platform: Platform,
  kind: v.picklist(activityKinds),
  date: v.number(),
  problem: v.exactOptional(v.string()),
});

const SampleItem = v.object({ numRequests: v.number(), numFailures: v.number() });

const RefreshFailure = v.object({ platform: Platform, reason: v.string() });

const AcceptedStore = v.object({ platform: Platform, ok: v.literal(true) });

/** A read costs at most 13 read units. */
const maxSamples = 1_000;
const sampleRetentionMs = dayMs;

const maxDurations = 100;

/** Minimum time between two writes of one kind: each costs a write unit. */
const intervalMs = minuteMs;

const counted = { Name: 'StoreRequests', Unit: 'Count' };
const timed = { Name: 'StoreDuration', Unit: 'Milliseconds' };

/** Lists the activities that an event records: the latest of each kind and store. */
export function listEventActivities(event: EventRecord, raw: RawEvent | undefined): StoreActivity[] {
  const { type, date } = event;
  const platform = /^webhook\.(\w+)\.called$/.exec(type)?.[1];
  const calls = (raw?.externalRequests ?? []).flatMap((call): StoreActivity[] => {
    if (call.platform === undefined) return [];
    const problem = findProblem(call);
    const activity = { platform: call.platform, date: call.timing.endedAt };
    return [problem === undefined ? { ...activity, kind: 'success' } : { ...activity, kind: 'failure', problem }];
  });
  const notifications: StoreActivity[] =
    platform !== undefined && platform !== 'app'
      ? [{ platform: platform as Platform, kind: 'notification', date }]
      : [];
  const latest = new Map(
    [...notifications, ...calls, ...listExpiredKeys(event, raw), ...listOutcomes(event, raw)].map((activity) => [
      toKindKey(activity),
      activity,
    ]),
  );
  return [...latest.values()];
}

/** A validation without a key is normal: its client creates the key and repeats it. */
function listExpiredKeys({ date, content }: EventRecord, raw: RawEvent | undefined): StoreActivity[] {
  if (raw?.error?.code !== ('NeedMoreData' satisfies ErrorCode)) return [];
  return content.refreshFailures
    .filter((failure) => v.is(RefreshFailure, failure))
    .map(({ platform, reason }) => ({ platform, kind: 'expiredKey', date, problem: reason }));
}

/**
 * Lists what the adapters report: responses can be usable one by one, such as those of Apple's sandbox for a key that
 * production rejects, and a check finds permissions that no request has needed yet.
 */
function listOutcomes({ type, date, content }: EventRecord, raw: RawEvent | undefined): StoreActivity[] {
  if (['store.checked', 'app.changed'].includes(type)) {
    const rejections = content.refreshFailures.filter((failure) => v.is(RefreshFailure, failure));
    if (rejections.length > 0) return rejections.map(({ platform, reason }) => toRejection(platform, date, reason));
    const accepted = v.safeParse(AcceptedStore, raw?.response.body);
    const isReached = raw?.externalRequests.some((call) => findProblem(call) === undefined);
    return accepted.success && isReached ? [{ platform: accepted.output.platform, kind: 'accepted', date }] : [];
  }
  const message = raw?.error?.message ?? '';
  const call = raw?.externalRequests.findLast(
    ({ platform }) => platform && reportsInvalidSettings(message, storeNames[platform]),
  );
  return call?.platform ? [toRejection(call.platform, date, message)] : [];
}

const toRejection = (platform: Platform, date: EpochMillis, problem: string): StoreActivity => ({
  platform,
  kind: 'rejection',
  date,
  problem,
});

/**
 * Other statuses are usable: 404, for example, means that the purchase is unknown. A token endpoint rejects credentials
 * with 400, such as `invalid_grant` of Google for a deleted key.
 * @see https://datatracker.ietf.org/doc/html/rfc6749#section-5.2
 */
function findProblem({ url, response, error }: RawEvent['externalRequests'][number]): string | undefined {
  if (!response) return `The store did not respond${error ? `: ${error.message}` : ''}.`;
  const { status } = response;
  const isUnusable = status >= 500 || [401, 403, 429].includes(status) || (status >= 400 && url.endsWith('/token'));
  return isUnusable ? `The store responded with ${response.status}.` : undefined;
}

const toKindKey = ({ platform, kind }: StoreActivity): string => `${platform}#${kind}`;

/** Returns a sample of the requests to each store that an event records. */
export function sampleStoreRequests(raw: RawEvent | undefined): StoreRequestSample[] {
  const samples = new Map<Platform, StoreRequestSample>();
  for (const call of raw?.externalRequests ?? []) {
    if (call.platform === undefined) continue;
    const numFailures = findProblem(call) === undefined ? 0 : 1;
    const { startedAt, endedAt } = call.timing;
    const durationsMs = numFailures > 0 ? [] : [Math.round(endedAt - startedAt)];
    const request = { platform: call.platform, date: endedAt, numRequests: 1, numFailures, durationsMs };
    samples.set(call.platform, addSamples(samples.get(call.platform), request));
  }
  return [...samples.values()];
}

const addSamples = (sum: StoreRequestSample | undefined, sample: StoreRequestSample): StoreRequestSample =>
  sum
    ? {
        ...sample,
        date: Math.max(sum.date, sample.date),
        numRequests: sum.numRequests + sample.numRequests,
        numFailures: sum.numFailures + sample.numFailures,
        durationsMs: [...sum.durationsMs, ...sample.durationsMs].slice(0, maxDurations),
      }
    : sample;

/**
 * Creates a filter that accepts an activity of each kind at most once a minute, so recording costs nearly nothing. The
 * stored times can be a minute old, except of checks.
 */
export function createActivityFilter(): (appName: string, activities: readonly StoreActivity[]) => StoreActivity[] {
  const acceptedAt = new Map<string, EpochMillis>();
  return (appName, activities) =>
    activities.filter((activity) => {
      const key = `${appName}#${toKindKey(activity)}`;
      if (activity.kind === 'accepted') return true;
      if (activity.date - (acceptedAt.get(key) ?? Number.NEGATIVE_INFINITY) < intervalMs) return false;
      acceptedAt.set(key, activity.date);
      return true;
    });
}

/**
 * Creates a collector that adds up samples. It returns the sum of a store at most once a minute, and once more at the
 * first failure in that minute, so that an outage is visible immediately. Requests that no other one follows within a
 * minute keep their time. The rest of a process that ends is lost.
 */
export function createSampleCollector(): (
  appName: string,
  samples: readonly StoreRequestSample[],
) => StoreRequestSample[] {
  const states = new Map<string, { since: EpochMillis; hasFailure: boolean; waiting?: StoreRequestSample }>();
  return (appName, samples) =>
    samples.flatMap((sample) => {
      const key = `${appName}#${sample.platform}`;
      const last = states.get(key);
      const waiting = last?.waiting;
      const isOld = waiting && sample.date - waiting.date >= intervalMs;
      const sum = addSamples(isOld ? undefined : waiting, sample);
      const isRecent = last && Math.abs(sum.date - last.since) < intervalMs;
      const isFailure = sum.numFailures > 0;
      if (isRecent && (last.hasFailure || !isFailure)) {
        last.waiting = sum;
        return [];
      }
      states.set(key, isRecent ? { since: last.since, hasFailure: true } : { since: sum.date, hasFailure: isFailure });
      return isOld ? [waiting, sum] : [sum];
    });
}

/**
 * Formats the requests to a store for CloudWatch, which reads metrics from the log without a request: a line for each
 * outcome, with the durations of usable responses. A metric has at most 100 values.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function formatMetrics(namespace: string, sample: StoreRequestSample): string[] {
  const { platform: Store, date, numRequests, numFailures, durationsMs } = sample;
  const format = (Outcome: string, Metrics: readonly object[], values: object): string => {
    const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [['Store', 'Outcome']], Metrics }];
    return JSON.stringify({ _aws: { Timestamp: date, CloudWatchMetrics }, Store, Outcome, ...values });
  };
  const usable = { StoreRequests: numRequests - numFailures, StoreDuration: durationsMs };
  return [
    ...(durationsMs.length > 0 ? [format('ok', [counted, timed], usable)] : []),
    ...(numFailures > 0 ? [format('failed', [counted], { StoreRequests: numFailures })] : []),
  ];
}

export async function listStoreActivities({ table }: Service, appName: string): Promise<StoreActivity[]> {
  const items = await table.query({ partition: keys.storeActivityKey.partition(appName) });
  return items.map((item) => parse(ActivityItem, item, 'DatabaseError'));
}

/** Counts the requests to a store since a date, from the latest 1,000 samples. */
export async function countStoreRequests(
  { table }: Service,
  appName: string,
  platform: Platform,
  since: EpochMillis,
): Promise<StoreRequests> {
  const items = await table.query({
    partition: keys.storeSampleKey.partition(appName, platform),
    between: timestampRange({ startdate: since }),
    limit: maxSamples,
    newestFirst: true,
    isEventuallyConsistent: true,
  });
  const samples = items.map((item) => parse(SampleItem, item, 'DatabaseError'));
  return {
    numRequests: samples.reduce((total, { numRequests }) => total + numRequests, 0),
    numFailures: samples.reduce((total, { numFailures }) => total + numFailures, 0),
  };
}

export const toActivityItem = (appName: string, activity: StoreActivity): Item => ({
  ...keys.storeActivityKey(appName, activity.platform, activity.kind),
  ...activity,
});

export const toSampleItem = (
  appName: string,
  { platform, date, numRequests, numFailures }: StoreRequestSample,
): Item => ({
  // Samples of the same millisecond come from different processes.
  ...keys.storeSampleKey(appName, platform, date, randomUUID()),
  numRequests,
  numFailures,
  ttl: toTtl(date + sampleRetentionMs),
});
