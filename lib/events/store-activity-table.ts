import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { timestampRange, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { activityKinds, type StoreActivity, type StoreRequestSample } from './store-activity.ts';

const ActivityItem = v.object({
  platform: Platform,
  kind: v.picklist(activityKinds),
  date: v.number(),
  problem: v.exactOptional(v.string()),
});

const SampleItem = v.object({ numRequests: v.number(), numFailures: v.number() });

/** Requests to a store within a day. */
interface StoreRequests {
  readonly numRequests: number;
  readonly numFailures: number;
}

/** A read costs at most 13 read units. */
const maxSamples = 1_000;
const sampleRetentionMs = dayMs;

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
