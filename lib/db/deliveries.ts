import { createHash } from 'node:crypto';
import { parse } from '../parse.ts';
import type { Millis } from '../purchases/purchase.ts';
import { Delivery } from '../webhooks/delivery.ts';
import { EndpointState } from '../webhooks/endpoint-state.ts';
import { holds } from './holds.ts';
import * as keys from './keys.ts';
import type { Table, Update } from './table.ts';
import { updateOf } from './update-of.ts';

/** Webhooks on their way to the applications' servers, and which of these take none. */
export interface Deliveries {
  /** Twice is once: one that exists stays as it is. Whether it was made now. */
  create(delivery: Delivery): Promise<boolean>;
  find(app: string, deliveryId: string): Promise<Delivery | undefined>;
  /** Writes what became of a delivery; false when another worker was there first. */
  replace(before: Delivery, after: Delivery, now: Millis): Promise<boolean>;
  /** Those that failed and wait, and those that are dead, oldest first. */
  undelivered(app: string): Promise<Delivery[]>;
  endpoint(app: string, url: string): Promise<EndpointState>;
  /** Nothing goes to the URL until it is switched on. */
  switchOff(app: string, url: string, offAt: Millis): Promise<void>;
  /** Forgets everything that was remembered of the URL. */
  switchOn(app: string, url: string): Promise<void>;
  /** Remembers that the URL hangs, or with no marks that it does not. One that is switched off stays that. */
  markEndpoint(app: string, url: string, marks: DownMarks): Promise<void>;
}

type DownMarks = Pick<EndpointState, 'downUntil' | 'failures'>;

/** How long a delivery is kept after its last attempt: longer than the attempts take, and enough to see what died. */
export const remembersMs = 30 * 24 * 60 * 60 * 1000;
const ttl = (now: Millis): number => Math.floor((now + remembersMs) / 1000);

const unmarked = { downUntil: undefined, failures: undefined, ttl: undefined };

export function deliveriesOf(table: Table): Deliveries {
  const endpointKey = (app: string, url: string) =>
    keys.endpointKey(app, createHash('sha256').update(url).digest('hex').slice(0, 32));
  return {
    async create(delivery) {
      const { app, deliveryId, createdAt } = delivery;
      const fields = { ...delivery, ttl: ttl(createdAt) };
      return await holds(
        table,
        updateOf(keys.deliveryKey(app, deliveryId), fields, { expression: 'attribute_not_exists(pk)' }),
      );
    },
    async find(app, deliveryId) {
      const item = await table.get(keys.deliveryKey(app, deliveryId));
      return item && parse(Delivery, item, 'DatabaseError');
    },
    replace: async (before, after, now) => await holds(table, replacement(before, after, now)),
    async undelivered(app) {
      const listed = await table.query({ partition: keys.deliveriesPartition(app), index: 'byCreated' });
      const items = await table.batchGet(listed.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
      return items.map((item) => parse(Delivery, item, 'DatabaseError')).filter(isListed);
    },
    async endpoint(app, url) {
      return parse(EndpointState, (await table.get(endpointKey(app, url))) ?? {}, 'DatabaseError');
    },
    switchOff: async (app, url, offAt) => await table.update(updateOf(endpointKey(app, url), { ...unmarked, offAt })),
    switchOn: async (app, url) =>
      await table.update(updateOf(endpointKey(app, url), { ...unmarked, offAt: undefined })),
    async markEndpoint(app, url, { downUntil, failures }) {
      const fields = { downUntil, failures, ttl: downUntil === undefined ? undefined : ttl(downUntil) };
      const isOn = { expression: 'attribute_not_exists(offAt)' };
      await holds(table, updateOf(endpointKey(app, url), fields, isOn));
    },
  };
}

const isListed = ({ state }: Delivery): boolean => state === 'waiting' || state === 'dead';

/** Only what has failed is in the indexes: nearly all deliveries succeed at once, and cost one write and one update. */
function replacement(before: Delivery, after: Delivery, now: Millis): Update {
  const { app, deliveryId, createdAt, dueAt } = after;
  const key = keys.deliveryKey(app, deliveryId);
  const due = dueAt === undefined ? undefined : keys.dueIndexKeys(key, dueAt);
  const listing = isListed(after) ? keys.deliveryIndexKeys(app, deliveryId, createdAt) : undefined;
  const { state, attempts, nextAt, lastStatus, failure } = after;
  return updateOf(
    key,
    {
      // A replay begins anew, and moves to the end of the list with it.
      ...{ createdAt, state, attempts, nextAt, dueAt, lastStatus, failure, ttl: ttl(now) },
      ...{ duePk: due?.duePk, dueSk: due?.dueSk, createdPk: listing?.createdPk, createdSk: listing?.createdSk },
    },
    {
      expression: 'attempts = :attempts AND #state = :state',
      names: { '#state': 'state' },
      values: { ':attempts': before.attempts, ':state': before.state },
    },
  );
}
