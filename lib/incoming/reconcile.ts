import { createHash } from 'node:crypto';
import { hooks } from '../api/notifications.ts';
import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { newRecorder } from '../events/recorder.ts';
import { recordWork } from '../events/work.ts';
import { askingOf } from '../http/asking.ts';
import { type Platform, platforms } from '../purchases/platform.ts';
import type { Millis } from '../purchases/purchase.ts';
import type { StoreMessage } from '../stores/store.ts';

/** Each look covers several runs, so that one that fails is made up for. */
const looksBackMs = 3 * 24 * 60 * 60 * 1000;

/** What a look has put on the queue is left to it for so long; the queue may take longer, or have given it up. */
const queuedMs = 6 * 60 * 60 * 1000;

/** Stores that send their messages by themselves; the others only hold them ready. */
const sending = new Set<Platform>(hooks.map(({ platform }) => platform));

/**
 * Asks the stores that send notifications for what they could not deliver, and sends what nobody has handled on its way,
 * unless an earlier look did so within hours. One event an application and store tells how many messages were missed; without
 * any there is none.
 */
export async function reconcile(deps: Deps, remainingMs: () => number): Promise<void> {
  const asked = platforms.filter((platform) => sending.has(platform));
  await askStores(asked, remainingMs, deps);
}

/** The same for the messages that the other stores hold ready: this is the only way in which they arrive. */
export async function collect(deps: Deps, remainingMs: () => number): Promise<void> {
  const asked = platforms.filter((platform) => !sending.has(platform));
  await askStores(asked, remainingMs, deps);
}

/** The longest that a store is asked for. */
const neededMs = 70_000;

/** Begins each time with another application, so that each has its turn even when the time never reaches to all of them. */
async function askStores(asked: readonly Platform[], remainingMs: () => number, deps: Deps): Promise<void> {
  const apps = (await deps.apps.list()).filter(({ deletedAt }) => deletedAt === undefined);
  const first = Math.floor(Math.random() * apps.length);
  for (const app of [...apps.slice(first), ...apps.slice(0, first)]) {
    for (const platform of asked) {
      if (remainingMs() < neededMs) return;
      await askStore(app, platform, deps);
    }
  }
}

async function askStore(app: App, platform: Platform, deps: Deps): Promise<void> {
  const recorder = newRecorder({ type: 'notifications.reconciled', date: deps.now() });
  const request = { route: 'reconcile', platform };
  try {
    const asking = await askingOf(app.name, platform, { event: recorder, deps });
    if (asking.settings === undefined) return;
    const store = await deps.store(platform);
    const told = (await store.missed?.(deps.now() - looksBackMs, asking)) ?? [];
    const missed = await unsent(told, { app: app.name, platform, deps });
    await sendOn(missed, { app: app.name, platform, deps });
    if (told.length > 0) await store.taken?.(told, asking);
    if (missed.length === 0) return;
    recorder.note({ notifications: missed.map(({ message: { type } }) => ({ platform, type })) });
    await recordWork(app.name, { recorder, request, response: { quantity: missed.length } }, deps);
  } catch (thrown) {
    const failure = ServiceError.from(thrown);
    recorder.note({ refreshFailures: [{ platform, reason: failure.message }] });
    await recordWork(app.name, { recorder, request, failure }, deps);
  }
}

interface Sending {
  readonly app: string;
  readonly platform: Platform;
  readonly deps: Deps;
}

/** A message that is to be put on the queue. */
interface Missed {
  readonly message: StoreMessage;
  /** When a look put it there for the first time, which may have come to nothing. */
  readonly firstAt: Millis;
}

/** Those that nobody has handled and that no look has just put on the queue. */
async function unsent(told: readonly StoreMessage[], sending: Sending): Promise<Missed[]> {
  const once = [...new Map(told.map((message) => [message.key, message])).values()];
  const missed = await Promise.all(once.map(async (message) => await missedOf(message, sending)));
  return missed.filter((one) => one !== undefined);
}

async function missedOf(message: StoreMessage, { app, platform, deps }: Sending): Promise<Missed | undefined> {
  const { key } = message;
  if (await deps.messages.isHandled(app, { platform, key })) return undefined;
  const queued = await deps.messages.queued(app, { platform, key });
  if (queued && deps.now() - queued.lastAt < queuedMs) return undefined;
  return { message, firstAt: queued?.firstAt ?? deps.now() };
}

/** Marks what it sends only then: a crash in between has the next look send it again. */
async function sendOn(missed: readonly Missed[], { app, platform, deps }: Sending): Promise<void> {
  const lastAt = deps.now();
  const incoming = missed.map(({ message, firstAt: receivedAt }) => ({
    app,
    platform,
    eventId: eventIdOf(app, platform, message.key),
    receivedAt,
    attempt: 0,
    message,
  }));
  await deps.notificationsQueue.send(incoming, { group: app });
  await deps.messages.markQueued(
    app,
    missed.map(({ message: { key }, firstAt }) => ({ platform, key, firstAt, lastAt })),
  );
}

/** The same however often the message is sent on: its event is then written again, not a second time. */
const eventIdOf = (...parts: readonly [app: string, platform: Platform, key: string]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
