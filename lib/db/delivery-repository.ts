import { createHash } from 'node:crypto';
import { parse } from '../shared/parse.ts';
import type { EpochMillis } from '../shared/time.ts';
import { WebhookDelivery } from '../webhooks/delivery.ts';
import { WebhookUrlHealth } from '../webhooks/endpoint-health.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Table, Update } from './table.ts';
import { tryUpdate } from './try-update.ts';

/** Webhooks on their way to the applications' servers, and which of these take none. */
export interface DeliveryRepository {
  /** Twice is once: one that exists stays as it is. Whether it was made now. */
  createIfAbsent(delivery: WebhookDelivery): Promise<boolean>;
  find(appName: string, deliveryId: string): Promise<WebhookDelivery | undefined>;
  /** Writes what became of a delivery; false when another worker was there first. */
  replaceIfUnchanged(before: WebhookDelivery, after: WebhookDelivery, now: EpochMillis): Promise<boolean>;
  /** Those that failed and wait, and those that are dead, oldest first. */
  listFailed(appName: string): Promise<WebhookDelivery[]>;
  findUrlHealth(appName: string, url: string): Promise<WebhookUrlHealth>;
  /** Nothing goes to the URL until it is switched on. */
  disableUrl(appName: string, url: string, disabledAt: EpochMillis): Promise<void>;
  /** Forgets everything that was remembered of the URL. */
  enableUrl(appName: string, url: string): Promise<void>;
  /** Remembers that the URL hangs, or with no marks that it does not. One that is switched off stays that. */
  saveUrlBackoff(appName: string, url: string, marks: UrlBackoff): Promise<void>;
}

type UrlBackoff = Pick<WebhookUrlHealth, 'backoffUntil' | 'consecutiveFailures'>;

/** How long a delivery is kept after its last attempt: longer than the attempts take, and enough to see what died. */
export const deliveryRetentionMs = 30 * 24 * 60 * 60 * 1000;
const ttl = (now: EpochMillis): number => Math.floor((now + deliveryRetentionMs) / 1000);

const noBackoff = { backoffUntil: undefined, consecutiveFailures: undefined, ttl: undefined };

export function createDeliveryRepository(table: Table): DeliveryRepository {
  const endpointKey = (appName: string, url: string) =>
    keys.webhookUrlKey(appName, createHash('sha256').update(url).digest('hex').slice(0, 32));
  return {
    async createIfAbsent(delivery) {
      const { appName, deliveryId, createdAt } = delivery;
      const fields = { ...delivery, ttl: ttl(createdAt) };
      return await tryUpdate(
        table,
        buildUpdate(keys.deliveryKey(appName, deliveryId), fields, { expression: 'attribute_not_exists(pk)' }),
      );
    },
    async find(appName, deliveryId) {
      const item = await table.get(keys.deliveryKey(appName, deliveryId));
      return item && parse(WebhookDelivery, item, 'DatabaseError');
    },
    replaceIfUnchanged: async (before, after, now) => await tryUpdate(table, buildReplacement(before, after, now)),
    async listFailed(appName) {
      const listed = await table.query({ partition: keys.deliveriesPartition(appName), index: 'byCreated' });
      const items = await table.batchGet(listed.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
      return items.map((item) => parse(WebhookDelivery, item, 'DatabaseError')).filter(isIndexed);
    },
    async findUrlHealth(appName, url) {
      return parse(WebhookUrlHealth, (await table.get(endpointKey(appName, url))) ?? {}, 'DatabaseError');
    },
    disableUrl: async (appName, url, disabledAt) =>
      await table.update(buildUpdate(endpointKey(appName, url), { ...noBackoff, disabledAt })),
    enableUrl: async (appName, url) =>
      await table.update(buildUpdate(endpointKey(appName, url), { ...noBackoff, disabledAt: undefined })),
    async saveUrlBackoff(appName, url, { backoffUntil, consecutiveFailures }) {
      const fields = {
        backoffUntil,
        consecutiveFailures,
        ttl: backoffUntil === undefined ? undefined : ttl(backoffUntil),
      };
      const isEnabled = { expression: 'attribute_not_exists(disabledAt)' };
      await tryUpdate(table, buildUpdate(endpointKey(appName, url), fields, isEnabled));
    },
  };
}

const isIndexed = ({ state }: WebhookDelivery): boolean => state === 'pending' || state === 'dead';

/** Only what has failed is in the indexes: nearly all deliveries succeed at once, and cost one write and one update. */
function buildReplacement(before: WebhookDelivery, after: WebhookDelivery, now: EpochMillis): Update {
  const { appName, deliveryId, createdAt, dueAt } = after;
  const key = keys.deliveryKey(appName, deliveryId);
  const due = dueAt === undefined ? undefined : keys.dueIndexKeys(key, dueAt);
  const listing = isIndexed(after) ? keys.deliveryIndexKeys(appName, deliveryId, createdAt) : undefined;
  const { state, failedAttempts, nextAttemptAt, lastHttpStatus, failureReason } = after;
  return buildUpdate(
    key,
    {
      // A replay begins anew, and moves to the end of the list with it.
      ...{
        createdAt,
        state,
        attempts: failedAttempts,
        nextAt: nextAttemptAt,
        dueAt,
        lastStatus: lastHttpStatus,
        failure: failureReason,
        ttl: ttl(now),
      },
      ...{ duePk: due?.duePk, dueSk: due?.dueSk, createdPk: listing?.createdPk, createdSk: listing?.createdSk },
    },
    {
      expression: 'failedAttempts = :attempts AND #state = :state',
      names: { '#state': 'state' },
      values: { ':attempts': before.failedAttempts, ':state': before.state },
    },
  );
}
