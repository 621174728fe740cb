import { createHash } from 'node:crypto';
import { parse } from '../shared/parse.ts';
import type { Millis } from '../purchases/purchase.ts';
import { WebhookDelivery } from '../webhooks/delivery.ts';
import { WebhookUrlHealth } from '../webhooks/endpoint-health.ts';
import { tryUpdate } from './try-update.ts';
import * as keys from './keys.ts';
import type { Table, Update } from './table.ts';
import { buildUpdate } from './build-update.ts';

/** Webhooks on their way to the applications' servers, and which of these take none. */
export interface DeliveryRepository {
  /** Twice is once: one that exists stays as it is. Whether it was made now. */
  createIfAbsent(delivery: WebhookDelivery): Promise<boolean>;
  find(app: string, deliveryId: string): Promise<WebhookDelivery | undefined>;
  /** Writes what became of a delivery; false when another worker was there first. */
  replaceIfUnchanged(before: WebhookDelivery, after: WebhookDelivery, now: Millis): Promise<boolean>;
  /** Those that failed and wait, and those that are dead, oldest first. */
  listFailed(app: string): Promise<WebhookDelivery[]>;
  findUrlHealth(app: string, url: string): Promise<WebhookUrlHealth>;
  /** Nothing goes to the URL until it is switched on. */
  disableUrl(app: string, url: string, disabledAt: Millis): Promise<void>;
  /** Forgets everything that was remembered of the URL. */
  enableUrl(app: string, url: string): Promise<void>;
  /** Remembers that the URL hangs, or with no marks that it does not. One that is switched off stays that. */
  saveUrlBackoff(app: string, url: string, marks: UrlBackoff): Promise<void>;
}

type UrlBackoff = Pick<WebhookUrlHealth, 'backoffUntil' | 'consecutiveFailures'>;

/** How long a delivery is kept after its last attempt: longer than the attempts take, and enough to see what died. */
export const deliveryRetentionMs = 30 * 24 * 60 * 60 * 1000;
const ttl = (now: Millis): number => Math.floor((now + deliveryRetentionMs) / 1000);

const noBackoff = { backoffUntil: undefined, consecutiveFailures: undefined, ttl: undefined };

export function createDeliveryRepository(table: Table): DeliveryRepository {
  const endpointKey = (app: string, url: string) =>
    keys.webhookUrlKey(app, createHash('sha256').update(url).digest('hex').slice(0, 32));
  return {
    async createIfAbsent(delivery) {
      const { appName: app, deliveryId, createdAt } = delivery;
      const fields = { ...delivery, ttl: ttl(createdAt) };
      return await tryUpdate(
        table,
        buildUpdate(keys.deliveryKey(app, deliveryId), fields, { expression: 'attribute_not_exists(pk)' }),
      );
    },
    async find(app, deliveryId) {
      const item = await table.get(keys.deliveryKey(app, deliveryId));
      return item && parse(WebhookDelivery, item, 'DatabaseError');
    },
    replaceIfUnchanged: async (before, after, now) => await tryUpdate(table, buildReplacement(before, after, now)),
    async listFailed(app) {
      const listed = await table.query({ partition: keys.deliveriesPartition(app), index: 'byCreated' });
      const items = await table.batchGet(listed.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
      return items.map((item) => parse(WebhookDelivery, item, 'DatabaseError')).filter(isIndexed);
    },
    async findUrlHealth(app, url) {
      return parse(WebhookUrlHealth, (await table.get(endpointKey(app, url))) ?? {}, 'DatabaseError');
    },
    disableUrl: async (app, url, disabledAt) =>
      await table.update(buildUpdate(endpointKey(app, url), { ...noBackoff, disabledAt })),
    enableUrl: async (app, url) =>
      await table.update(buildUpdate(endpointKey(app, url), { ...noBackoff, disabledAt: undefined })),
    async saveUrlBackoff(app, url, { backoffUntil, consecutiveFailures }) {
      const fields = {
        backoffUntil,
        consecutiveFailures,
        ttl: backoffUntil === undefined ? undefined : ttl(backoffUntil),
      };
      const isEnabled = { expression: 'attribute_not_exists(disabledAt)' };
      await tryUpdate(table, buildUpdate(endpointKey(app, url), fields, isEnabled));
    },
  };
}

const isIndexed = ({ state }: WebhookDelivery): boolean => state === 'waiting' || state === 'dead';

/** Only what has failed is in the indexes: nearly all deliveries succeed at once, and cost one write and one update. */
function buildReplacement(before: WebhookDelivery, after: WebhookDelivery, now: Millis): Update {
  const { appName: app, deliveryId, createdAt, dueAt } = after;
  const key = keys.deliveryKey(app, deliveryId);
  const due = dueAt === undefined ? undefined : keys.dueIndexKeys(key, dueAt);
  const listing = isIndexed(after) ? keys.deliveryIndexKeys(app, deliveryId, createdAt) : undefined;
  const {
    state,
    failedAttempts: attempts,
    nextAttemptAt: nextAt,
    lastHttpStatus: lastStatus,
    failureReason: failure,
  } = after;
  return buildUpdate(
    key,
    {
      // A replay begins anew, and moves to the end of the list with it.
      ...{ createdAt, state, attempts, nextAt, dueAt, lastStatus, failure, ttl: ttl(now) },
      ...{ duePk: due?.duePk, dueSk: due?.dueSk, createdPk: listing?.createdPk, createdSk: listing?.createdSk },
    },
    {
      expression: 'failedAttempts = :attempts AND #state = :state',
      names: { '#state': 'state' },
      values: { ':attempts': before.failedAttempts, ':state': before.state },
    },
  );
}
