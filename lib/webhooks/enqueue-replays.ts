import pMap from 'p-map';
import { ServiceError } from '../foundation/errors.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import { findDelivery, noBackoff, replaceDelivery, saveUrlHealth } from './delivery-table.ts';
import { resetForReplay } from './delivery-transitions.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { addToForwardChain, toChainEntry } from './forward-chain-table.ts';
import { listDeliveryPage } from './list-deliveries.ts';

/**
 * Enqueues a delivery again with its original number of attempts. Throws `ResourceNotFound` if the app lacks this
 * delivery, and `Conflict` if it is being sent or if deliveries for other URLs have replaced it.
 */
export async function enqueueReplay(service: Service, appName: string, deliveryId: string): Promise<WebhookDelivery> {
  const delivery = await findDelivery(service, appName, deliveryId);
  if (!delivery) throw new ServiceError('ResourceNotFound', 'The delivery is not found.');
  if (delivery.state === 'redirected') throw conflict('Deliveries for other URLs have replaced the delivery.');
  await keepOrder(service, [delivery]);
  const replayed = await reset(service, delivery);
  if (!replayed) throw conflict('The delivery is being sent.');
  await endBackoff(service, [replayed]);
  await enqueueDeliveries(service, [replayed]);
  return replayed;
}

const conflict = (message: string): ServiceError => new ServiceError('Conflict', message, { retryable: false });

/** The queue has the message of the first attempt. A postponed first attempt waits like a retry. */
const isBeingSent = ({ state, failedAttempts, nextAttemptAt }: WebhookDelivery): boolean =>
  state === 'pending' && failedAttempts === 0 && nextAttemptAt === undefined;

/** Returns undefined if the delivery is being sent, or if another worker has changed it. */
async function reset(service: Service, delivery: WebhookDelivery): Promise<WebhookDelivery | undefined> {
  if (isBeingSent(delivery)) return undefined;
  const time = service.now();
  const after = resetForReplay(delivery, time);
  return (await replaceDelivery(service, delivery, after, time)) ? after : undefined;
}

/** Adds forwards to their chains before the first one is enqueued, so that they are sent in order again. */
async function keepOrder(service: Service, replayed: readonly WebhookDelivery[]): Promise<void> {
  const entries = replayed.flatMap((delivery) => toChainEntry(delivery) ?? []);
  await pMap(entries, async (entry) => await addToForwardChain(service, entry, service.now()), { concurrency });
}

/** Ends the backoff of the URLs, which would postpone the attempts that the operator requests now. */
async function endBackoff(service: Service, replayed: readonly WebhookDelivery[]): Promise<void> {
  const byUrl = new Map(replayed.map(({ url, appName }) => [url, appName]));
  await pMap(byUrl, async ([url, appName]) => await saveUrlHealth(service, appName, url, noBackoff), { concurrency });
}

/** The deliveries to replay: created from `startdate` (included) to `enddate` (excluded). */
export interface ReplayRange {
  readonly state: 'pending' | 'dead' | 'delivered';
  /** The URL, or the form in which responses contain it. All URLs by default. */
  readonly url?: string | undefined;
  readonly startdate: EpochMillis;
  readonly enddate: EpochMillis;
}

/** Maximum number of deliveries in one call: about a second of updates. */
const maxReplayed = 1_000;
const pageSize = 100;
const concurrency = 25;

/**
 * Enqueues the deliveries of a date range again, at most 1,000. Idempotent: a replay moves a delivery out of the range,
 * so the same call replays it once. `isComplete` is false if the range has further deliveries. Throws `InvalidPayload`
 * for a range that ends in the future.
 */
export async function enqueueReplays(
  service: Service,
  appName: string,
  range: ReplayRange,
): Promise<{ readonly replayed: number; readonly isComplete: boolean }> {
  if (range.enddate > service.now()) throw new ServiceError('InvalidPayload', 'enddate must not be in the future.');
  const selected: WebhookDelivery[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(pageSize, maxReplayed - selected.length);
    const page = await listDeliveryPage(service, appName, { ...range, limit, cursor });
    selected.push(...page.rows.filter((delivery) => !isBeingSent(delivery)));
    cursor = page.next;
  } while (cursor !== undefined && selected.length < maxReplayed);
  await keepOrder(service, selected);
  // The list has the newest first.
  const changed = await pMap(selected.reverse(), async (delivery) => await reset(service, delivery), { concurrency });
  const enqueued = changed.filter((delivery) => delivery !== undefined);
  await endBackoff(service, enqueued);
  await enqueueDeliveries(service, enqueued);
  return { replayed: enqueued.length, isComplete: cursor === undefined };
}
