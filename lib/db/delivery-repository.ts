import { buildUpdate } from '../foundation/build-update.ts';
import * as keys from '../foundation/keys.ts';
import type { Table, Update } from '../foundation/table.ts';
import { tryUpdate } from '../foundation/try-update.ts';
import { parse } from '../shared/parse.ts';
import { toShortDigest } from '../shared/short-digest.ts';
import type { EpochMillis } from '../shared/time.ts';
import { deliveryRetentionMs, WebhookDelivery } from '../webhooks/delivery.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import { WebhookUrlHealth } from '../webhooks/endpoint-health.ts';
import { listDeliveryPage } from './list-deliveries.ts';

const noBackoff = { backoffUntil: undefined, consecutiveFailures: undefined, ttl: undefined };

export function createDeliveryRepository(table: Table): DeliveryRepository {
  const urlKey = (appName: string, url: string) => keys.webhookUrlKey(appName, toShortDigest(url));
  return {
    async createIfAbsent(delivery) {
      const { appName, deliveryId, username, createdAt, dueAt } = delivery;
      const key = keys.deliveryKey(appName, deliveryId);
      const naming = username !== undefined && ({ appName, username, kind: 'delivery', date: createdAt } as const);
      const fields = {
        ...delivery,
        ...keys.deliveryListKeys(appName, deliveryId, createdAt),
        ...(naming && keys.namingIndexKeys(naming, key)),
        ...(dueAt !== undefined && keys.dueIndexKeys(key, dueAt)),
        ttl: keys.toTtl(createdAt + deliveryRetentionMs),
      };
      return await tryUpdate(table, buildUpdate(key, fields, { expression: 'attribute_not_exists(pk)' }));
    },
    async find(appName, deliveryId) {
      const item = await table.get(keys.deliveryKey(appName, deliveryId));
      return item && parse(WebhookDelivery, item, 'DatabaseError');
    },
    replaceIfUnchanged: async (before, after, now) => await tryUpdate(table, buildReplacement(before, after, now)),
    listPage: async (appName, query) => await listDeliveryPage(table, appName, query),
    async findUrlHealth(appName, url) {
      return parse(WebhookUrlHealth, (await table.get(urlKey(appName, url))) ?? {}, 'DatabaseError');
    },
    disableUrl: async (appName, url, disabledAt) =>
      await table.update(buildUpdate(urlKey(appName, url), { ...noBackoff, disabledAt })),
    enableUrl: async (appName, url) =>
      await table.update(buildUpdate(urlKey(appName, url), { ...noBackoff, disabledAt: undefined })),
    async saveUrlBackoff(appName, url, { backoffUntil, consecutiveFailures }) {
      const ttl = backoffUntil === undefined ? undefined : keys.toTtl(backoffUntil + deliveryRetentionMs);
      const isEnabled = { expression: 'attribute_not_exists(disabledAt)' };
      await tryUpdate(table, buildUpdate(urlKey(appName, url), { backoffUntil, consecutiveFailures, ttl }, isEnabled));
    },
  };
}

/**
 * Whether the delivery is in the list of failed deliveries. Nearly all deliveries succeed in the first attempt, so this
 * list is short. The list of all deliveries is written at their creation, because a later entry costs more (decision
 * 18).
 */
const isIndexed = ({ state }: WebhookDelivery): boolean => state === 'pending' || state === 'dead';

function buildReplacement(before: WebhookDelivery, after: WebhookDelivery, now: EpochMillis): Update {
  const { appName, deliveryId, createdAt, dueAt } = after;
  const { state, failedAttempts, nextAttemptAt, lastAttemptAt, lastHttpStatus, failureReason } = after;
  const key = keys.deliveryKey(appName, deliveryId);
  const dueKeys = dueAt === undefined ? undefined : keys.dueIndexKeys(key, dueAt);
  const listKeys = isIndexed(after) ? keys.deliveryIndexKeys(appName, deliveryId, createdAt) : undefined;
  return buildUpdate(
    key,
    {
      // Written because a replay resets it, which makes the delivery the newest of the lists.
      createdAt,
      ...keys.deliveryListKeys(appName, deliveryId, createdAt),
      state,
      failedAttempts,
      nextAttemptAt,
      dueAt,
      lastAttemptAt,
      lastHttpStatus,
      failureReason,
      ttl: keys.toTtl(now + deliveryRetentionMs),
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
