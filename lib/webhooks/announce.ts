import type { App } from '../apps/app.ts';
import { existing } from '../apps/operator.ts';
import { remembersMs } from '../db/deliveries.ts';
import type { Item } from '../db/table.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { entitledSince } from '../purchases/claims.ts';
import type { Millis } from '../purchases/purchase.ts';
import { type Announced, versionIn } from './announced.ts';
import type { Delivery } from './delivery.ts';
import { deliveriesOf, sendOut, urlsFor } from './fan-out.ts';

/** The moments whose changes are announced: the first included, the last excluded. */
interface Range {
  readonly from: Millis;
  readonly to: Millis;
}

/** Webhooks that a range should have had, and those of them that had been given up. */
interface Announcing {
  readonly webhooks: number;
  readonly missing: number;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Of changes before this a delivery may have been forgotten, and would be made anew. */
const reachesMs = remembersMs - dayMs;
/** Purchases, or deliveries, that are worked on at the same time. */
const together = 25;
/** A delivery that is this old and was never tried may have no message any more; a second one is dropped. */
const lostMs = 15 * 60_000;

/**
 * Announces what the stream's worker has given up: makes the deliveries of a range that do not exist and sends them. They
 * have the ids that the worker would have given them, so that what it has announced stays as it is. Throws
 * `InvalidPayload` for a range that reaches further back than deliveries are remembered.
 */
export async function announce(name: string, range: Range, deps: Deps): Promise<Announcing> {
  const app = await existing(deps.apps, name);
  check(app, range, deps.now());
  let [webhooks, missing] = [0, 0];
  for await (const items of deps.lists.updatedSince(app.name, range.from)) {
    const announced = await inTurns(items, async (item) => await announcedIn(item, { app, range, deps }));
    const deliveries = announced.flat().flatMap((one) => deliveriesOf(one, app, deps.now()));
    const untold = await inTurns(deliveries, async (delivery) => ((await isUntold(delivery, deps)) ? [delivery] : []));
    await sendOut(untold.flat(), deps);
    webhooks += deliveries.length;
    missing += untold.flat().length;
  }
  return { webhooks, missing };
}

function check(app: App, { from, to }: Range, now: Millis): void {
  if (urlsFor(app, false).length === 0) throw new ServiceError('InvalidPayload', `${app.name} has set no webhook URL.`);
  if (from >= to) throw new ServiceError('InvalidPayload', 'The range ends before it begins.');
  if (from < now - reachesMs)
    throw new ServiceError(
      'InvalidPayload',
      'At most 29 days back: deliveries are kept for 30 days, and what was delivered before would be sent again.',
    );
}

/**
 * What of a purchase falls into the range: the news of its present version, and of those before it what is kept with it,
 * the events of its life. Each for the users of now who were entitled then.
 */
async function announcedIn(
  item: Item,
  { app, range, deps }: { app: App; range: Range; deps: Deps },
): Promise<Announced[]> {
  const { news, users, purchase } = versionIn(item);
  const [kept, claims] = await Promise.all([
    deps.purchases.notificationsOf(app.name, purchase.purchaseId),
    deps.purchases.claimsOf(app.name, purchase.purchaseId),
  ]);
  const since = new Map(claims.map((claim) => [claim.username, entitledSince(claim, app.strategy)]));
  const byId = new Map([...kept, ...news].map((announcement) => [announcement.id, announcement]));
  return [...byId.values()]
    .filter(({ date }) => date >= range.from && date < range.to)
    .map((announcement) => ({
      app: app.name,
      news: [announcement],
      users: users.filter((username) => (since.get(username) ?? 0) <= announcement.date),
      purchase,
    }));
}

/** Makes the delivery; false when it exists and is seen to. */
async function isUntold(delivery: Delivery, { deliveries, now }: Deps): Promise<boolean> {
  if (await deliveries.create(delivery)) return true;
  const present = await deliveries.find(delivery.app, delivery.deliveryId);
  const { state, attempts, dueAt, createdAt } = present ?? delivery;
  return state === 'waiting' && attempts === 0 && dueAt === undefined && now() - createdAt >= lostMs;
}

async function inTurns<T, R>(values: readonly T[], run: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < values.length; start += together) {
    results.push(...(await Promise.all(values.slice(start, start + together).map(run))));
  }
  return results;
}
