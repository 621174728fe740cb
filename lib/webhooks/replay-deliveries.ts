import pMap from 'p-map';
import { ServiceError } from '../shared/errors.ts';
import type { MessageQueue } from '../shared/message-queue.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import type { DeliveryRepository } from './delivery-repository.ts';
import { resetForReplay } from './delivery-transitions.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { type ChainEntry, toChainEntry } from './forward-order.ts';
import type { WebhookMessage } from './webhook-message.ts';

interface ReplayDeps {
  readonly deliveries: DeliveryRepository;
  readonly forwardChains: { add(entry: ChainEntry, now: EpochMillis): Promise<void> };
  now(): EpochMillis;
  readonly webhookQueue: MessageQueue<WebhookMessage>;
}

/**
 * Enqueues a delivery again with its original number of attempts. Throws `ResourceNotFound` if the app has no such
 * delivery, and `Conflict` if it is being sent or if deliveries for other URLs have replaced it.
 */
export async function replayDelivery(appName: string, deliveryId: string, deps: ReplayDeps): Promise<WebhookDelivery> {
  const delivery = await deps.deliveries.find(appName, deliveryId);
  if (!delivery) throw new ServiceError('ResourceNotFound', 'The delivery is not found.');
  if (delivery.state === 'redirected') throw conflict('Deliveries for other URLs have replaced the delivery.');
  await keepOrder([delivery], deps);
  const replayed = await reset(delivery, deps);
  if (!replayed) throw conflict('The delivery is being sent.');
  await endBackoff([replayed], deps);
  await enqueueDeliveries([replayed], deps);
  return replayed;
}

const conflict = (message: string): ServiceError => new ServiceError('Conflict', message, { retryable: false });

/** Whether the queue has the message of the first attempt. A postponed first attempt waits like a retry. */
const isBeingSent = ({ state, failedAttempts, nextAttemptAt }: WebhookDelivery): boolean =>
  state === 'pending' && failedAttempts === 0 && nextAttemptAt === undefined;

/** Returns undefined if the delivery is being sent, or if another worker has changed it. */
async function reset(
  delivery: WebhookDelivery,
  { deliveries, now }: Pick<ReplayDeps, 'deliveries' | 'now'>,
): Promise<WebhookDelivery | undefined> {
  if (isBeingSent(delivery)) return undefined;
  const time = now();
  const after = resetForReplay(delivery, time);
  return (await deliveries.replaceIfUnchanged(delivery, after, time)) ? after : undefined;
}

/** Adds forwards to their chains before the first one is enqueued, so that they are sent in order again. */
async function keepOrder(
  replayed: readonly WebhookDelivery[],
  { forwardChains, now }: Pick<ReplayDeps, 'forwardChains' | 'now'>,
): Promise<void> {
  const entries = replayed.flatMap((delivery) => toChainEntry(delivery) ?? []);
  await pMap(entries, async (entry) => await forwardChains.add(entry, now()), { concurrency });
}

/** Ends the backoff of the URLs, which would postpone the attempts that the operator requests now. */
async function endBackoff(
  replayed: readonly WebhookDelivery[],
  { deliveries }: Pick<ReplayDeps, 'deliveries'>,
): Promise<void> {
  const byUrl = new Map(replayed.map(({ url, appName }) => [url, appName]));
  await pMap(byUrl, async ([url, appName]) => await deliveries.saveUrlBackoff(appName, url, {}), { concurrency });
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
export async function replayDeliveries(
  appName: string,
  range: ReplayRange,
  deps: ReplayDeps,
): Promise<{ readonly replayed: number; readonly isComplete: boolean }> {
  if (range.enddate > deps.now()) throw new ServiceError('InvalidPayload', 'enddate must not be in the future.');
  const selected: WebhookDelivery[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(pageSize, maxReplayed - selected.length);
    const page = await deps.deliveries.listPage(appName, { ...range, limit, cursor });
    selected.push(...page.rows.filter((delivery) => !isBeingSent(delivery)));
    cursor = page.next;
  } while (cursor !== undefined && selected.length < maxReplayed);
  await keepOrder(selected, deps);
  // The list has the newest first.
  const changed = await pMap(selected.reverse(), async (delivery) => await reset(delivery, deps), { concurrency });
  const enqueued = changed.filter((delivery) => delivery !== undefined);
  await endBackoff(enqueued, deps);
  await enqueueDeliveries(enqueued, deps);
  return { replayed: enqueued.length, isComplete: cursor === undefined };
}
