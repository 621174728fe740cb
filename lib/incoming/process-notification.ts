import type { App } from '../apps/app.ts';
import type { Recorded } from '../db/purchases.ts';
import type { Deps } from '../deps.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { logFailure } from '../events/log-failure.ts';
import { noteRecorded } from '../events/note-recorded.ts';
import { newRecorder, type Recorder } from '../events/recorder.ts';
import { recordWork } from '../events/work.ts';
import { askingOf } from '../http/asking.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Noticed, Store } from '../stores/store.ts';
import type { IncomingNotification } from './incoming-notification.ts';
import { namedUser } from './named-user.ts';

/** A store that cannot be asked is asked again for about two days. */
const mostAttempts = 200;
/** From then on the log tells of each attempt, which an alarm waits for. */
const lateMs = 30 * 60 * 1000;

/**
 * Takes in what a store's message tells: its purchases as the store shows them now are recorded, once however often the
 * message comes. While the store cannot be asked the message goes back on the queue; any other failure is thrown, and
 * the platform tries again.
 */
export async function processNotification(incoming: IncomingNotification, deps: Deps): Promise<void> {
  const { platform, message, eventId, receivedAt } = incoming;
  const app = await deps.cachedApps.find(incoming.app);
  if (!app || app.deletedAt !== undefined) return;
  const handled = { platform, key: message.key };
  if (await deps.messages.isHandled(app.name, handled)) return;
  const recorder = newRecorder({ type: `webhook.${platform}.called`, date: receivedAt, eventId });
  const request = { route: platform, notification: { type: message.type, date: new Date(message.at).toISOString() } };
  try {
    await takeIn(incoming, { app, recorder, deps });
    await recordWork(app.name, { recorder, request }, deps);
  } catch (thrown) {
    const failure = ServiceError.from(thrown);
    recorder.note({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWork(app.name, { recorder, request, failure }, deps);
    if (failure.code !== ('ConnectionFailed' satisfies ErrorCode) || incoming.attempt >= mostAttempts) throw failure;
    if (deps.now() - receivedAt > lateMs) logFailure({ problem: 'NotificationLate', app: app.name, eventId }, failure);
    await putOff(incoming, deps);
  }
}

interface Taking {
  readonly app: App;
  readonly recorder: Recorder;
  readonly deps: Deps;
}

async function takeIn({ platform, message }: IncomingNotification, taking: Taking): Promise<void> {
  const { app, recorder, deps } = taking;
  const store = await deps.store(platform);
  const noticed = await noticedBy(store, message, taking);
  const isPart = noticed.observations.length > 1;
  const handled = { platform, key: message.key };
  const recorded: Recorded[] = [];
  for (const observed of noticed.observations) {
    const result = await deps.purchases.record(app.name, observed.purchase.purchaseId, {
      cause: 'notification',
      observed,
      told: noticed.reason,
      ...(await namedUser(app.name, observed, deps.aliases)),
      message: { ...handled, isPart },
      strategy: app.strategy,
      now: deps.now(),
    });
    if (result) recorded.push((await claimedMeanwhile(result, observed, taking)) ?? result);
  }
  if (noticed.pricesChanged) await deps.priceLists.drop(app.name, platform, deps.now());
  if (noticed.observations.length !== 1) await deps.messages.markHandled(app.name, handled, deps.now());
  noteRecorded(recorder, recorded);
  recorder.note({ notifications: [{ reason: noticed.reason, type: message.type }] });
  const [user] = recorded.flatMap(({ stored }) => stored.entitledUsers);
  if (user !== undefined) recorder.user(user);
}

/** A user who became known while the purchase was written has not found it waiting, and was not found before. */
async function claimedMeanwhile(
  { stored }: Recorded,
  observed: Observation,
  { app, deps }: Taking,
): Promise<Recorded | undefined> {
  const { named } = stored.claims.length > 0 ? {} : await namedUser(app.name, observed, deps.aliases);
  if (named === undefined) return undefined;
  const { purchaseId } = observed.purchase;
  const claimed = { cause: 'notification', named, strategy: app.strategy, now: deps.now() } as const;
  return await deps.purchases.record(app.name, purchaseId, claimed);
}

async function noticedBy(
  store: Store,
  message: IncomingNotification['message'],
  { app, recorder, deps }: Taking,
): Promise<Noticed> {
  if (!store.observe) throw new ServiceError('InternalError', `${store.platform} has no messages.`);
  return await store.observe(message, await askingOf(app.name, store.platform, { event: recorder, deps }));
}

/** From five seconds, twice as long each time, up to the quarter of an hour that a queue can hold a message back. */
async function putOff(incoming: IncomingNotification, { notificationsQueue }: Deps): Promise<void> {
  const delaySeconds = Math.min(900, 5 * 2 ** Math.min(incoming.attempt, 10));
  await notificationsQueue.send([{ ...incoming, attempt: incoming.attempt + 1 }], {
    delaySeconds,
    group: incoming.app,
  });
}
