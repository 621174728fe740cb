import { toShortDigest, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { dueIndexKeys } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Update } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import { deliveryRetentionMs, WebhookDelivery } from './delivery.ts';
import { WebhookUrlHealth } from './url-health.ts';

/** A page of the deliveries that match all filters. */
export interface DeliveryQuery {
  readonly state?: WebhookDelivery['state'] | undefined;
  /** Lists the attempts of this customer's deliveries, so deliveries without an attempt are left out. */
  readonly username?: string | undefined;
  /** The URL, or the form in which responses contain it. */
  readonly url?: string | undefined;
  /** Range of the creation: from `startdate` (included) to `enddate` (excluded). */
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
}

/** The fields to store. Undefined removes a field. */
type UrlChanges = {
  readonly [Field in Exclude<keyof WebhookUrlHealth, 'disabledAt'>]?: WebhookUrlHealth[Field] | undefined;
};

export const noBackoff = { backoffUntil: undefined, consecutiveFailures: undefined } satisfies UrlChanges;
export const noFailure = { failingSince: undefined, failureReason: undefined } satisfies UrlChanges;
const healthy = { ...noBackoff, ...noFailure, ttl: undefined };

/** Idempotent: an existing delivery is not overwritten. Returns whether it was created. */
export async function createDeliveryIfAbsent({ table }: Service, delivery: WebhookDelivery): Promise<boolean> {
  const { appName, deliveryId, username, createdAt, dueAt } = delivery;
  const key = keys.deliveryKey(appName, deliveryId);
  const naming = username !== undefined && ({ appName, username, kind: 'delivery', date: createdAt } as const);
  const fields = {
    ...delivery,
    ...keys.deliveryList.entry(appName, deliveryId, createdAt),
    ...(naming && keys.namingIndexKeys(naming, key)),
    ...(dueAt !== undefined && dueIndexKeys(key, dueAt)),
    ttl: toTtl(createdAt + deliveryRetentionMs),
  };
  return await tryUpdate(table, buildUpdate(key, fields, { expression: 'attribute_not_exists(pk)' }));
}

export async function findDelivery(
  { table }: Service,
  appName: string,
  deliveryId: string,
): Promise<WebhookDelivery | undefined> {
  const item = await table.get(keys.deliveryKey(appName, deliveryId));
  return item && parse(WebhookDelivery, item, 'DatabaseError');
}

/** Replaces a delivery. Returns false if another worker has changed it since `before` was read. */
export async function replaceDelivery(
  { table }: Service,
  before: WebhookDelivery,
  after: WebhookDelivery,
  now: EpochMillis,
): Promise<boolean> {
  return await tryUpdate(table, buildReplacement(before, after, now));
}

export async function findUrlHealth(service: Service, appName: string, url: string): Promise<WebhookUrlHealth> {
  return parse(WebhookUrlHealth, (await service.table.get(urlKey(appName, url))) ?? {}, 'DatabaseError');
}

/** Stops deliveries to the URL until `enableUrl`. */
export async function disableWebhookUrl(
  service: Service,
  appName: string,
  url: string,
  disabledAt: EpochMillis,
): Promise<void> {
  return await service.table.update(buildUpdate(urlKey(appName, url), { ...healthy, disabledAt }));
}

/** Resets the health of the URL. */
export async function enableWebhookUrl(service: Service, appName: string, url: string): Promise<void> {
  return await service.table.update(buildUpdate(urlKey(appName, url), { ...healthy, disabledAt: undefined }));
}

/** Changes the health of a URL. Ignores a disabled URL. */
export async function saveUrlHealth(
  service: Service,
  appName: string,
  url: string,
  changes: UrlChanges,
): Promise<void> {
  const ttl = toTtl(service.now() + deliveryRetentionMs);
  const isEnabled = { expression: 'attribute_not_exists(disabledAt)' };
  await tryUpdate(service.table, buildUpdate(urlKey(appName, url), { ...changes, ttl }, isEnabled));
}

function urlKey(appName: string, url: string) {
  return keys.webhookUrlKey(appName, toShortDigest(url));
}

/**
 * Nearly all deliveries succeed in the first attempt, so the list of failed deliveries is short. The list of all
 * deliveries is written at their creation, because a later entry costs more (docs/decisions/write-units.md).
 */
const isListedAsOpen = ({ state }: WebhookDelivery): boolean => state === 'pending' || state === 'dead';

function buildReplacement(before: WebhookDelivery, after: WebhookDelivery, now: EpochMillis): Update {
  const { appName, deliveryId, createdAt, dueAt } = after;
  const { state, failedAttempts, nextAttemptAt, lastAttemptAt, lastHttpStatus, failureReason } = after;
  const key = keys.deliveryKey(appName, deliveryId);
  const dueKeys = dueAt === undefined ? undefined : dueIndexKeys(key, dueAt);
  const listKeys = isListedAsOpen(after) ? keys.openDeliveryList.entry(appName, deliveryId, createdAt) : undefined;
  return buildUpdate(
    key,
    {
      // Written because a replay resets it, which makes the delivery the newest of the lists.
      createdAt,
      ...keys.deliveryList.entry(appName, deliveryId, createdAt),
      state,
      failedAttempts,
      nextAttemptAt,
      dueAt,
      lastAttemptAt,
      lastHttpStatus,
      failureReason,
      ttl: toTtl(now + deliveryRetentionMs),
      duePk: dueKeys?.duePk,
      dueSk: dueKeys?.dueSk,
      createdPk: listKeys?.createdPk,
      createdSk: listKeys?.createdSk,
    },
    {
      expression: 'failedAttempts = :failedAttempts AND #state = :state',
      names: { '#state': 'state' },
      values: { ':failedAttempts': before.failedAttempts, ':state': before.state },
    },
  );
}
