import { hourMs } from './calendar.ts';
import type { Clock } from './clock.ts';
import type { NotificationDelivery } from './notification-delivery.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import { postNotification } from './post-notification.ts';

/** A posting with what it takes to send it. */
export interface PendingDelivery {
  readonly posting: NotificationDelivery;
  readonly notification: OutgoingNotification;
}

/** Attempts to post, concurrently, and repeats what failed. */
export interface NotificationSender {
  readonly add: (sending: PendingDelivery) => void;
  readonly all: () => readonly PendingDelivery[];
  /** Attempts at once all that is due, without waiting for how it ends. */
  readonly sendDue: () => void;
  /** Attempts each of them once the one before was answered, so that they arrive in this order. */
  readonly sendInTurn: (sendings: readonly PendingDelivery[]) => void;
  readonly close: () => Promise<void>;
}

/** How many postings that are over are remembered. */
const maxFinishedDeliveries = 500;
const maxTimerMs = hourMs;

/** A sender with nothing to send. */
export function createNotificationSender({
  clock,
  changed,
}: {
  readonly clock: Clock;
  readonly changed: () => void;
}): NotificationSender {
  const sendings = new Map<string, PendingDelivery>();
  const underWay = new Map<string, Promise<void>>();
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const keep = (sending: PendingDelivery): void => {
    sendings.set(sending.posting.id, sending);
  };
  const attempt = async (sending: PendingDelivery): Promise<void> => {
    const { posting, notification } = sending;
    const at = clock.now();
    const headers = notification.buildHeaders(at);
    const outcome = await postNotification({ url: posting.url, headers, body: posting.body, signal: closing.signal });
    underWay.delete(posting.id);
    if (outcome === undefined) return;
    keep({ notification, posting: recordAttempt(sending, { at, ...outcome }) });
    evictOldest(sendings);
    changed();
    setTimer();
  };
  const send = (sending: PendingDelivery): Promise<void> => {
    const sent = attempt(sending);
    underWay.set(sending.posting.id, sent);
    return sent;
  };
  const isDue = ({ id, state, dueAt }: NotificationDelivery): boolean =>
    state === 'waiting' && dueAt <= clock.now() && !underWay.has(id) && !closing.signal.aborted;
  const sendDue = (): void => {
    for (const sending of sendings.values()) if (isDue(sending.posting)) void send(sending);
    setTimer();
  };
  const setTimer = (): void => {
    clearTimeout(timer);
    const waiting = [...sendings.values()].filter(
      ({ posting }) => posting.state === 'waiting' && !underWay.has(posting.id),
    );
    if (waiting.length === 0 || closing.signal.aborted) return;
    const waitMs = Math.min(...waiting.map(({ posting }) => posting.dueAt)) - clock.now();
    timer = setTimeout(sendDue, Math.min(Math.max(waitMs, 0), maxTimerMs)).unref();
  };
  return {
    all: () => [...sendings.values()],
    add: keep,
    sendDue,
    sendInTurn: (chosen) => {
      let before: Promise<void> = Promise.resolve();
      for (const { posting, notification } of chosen) {
        const sending: PendingDelivery = {
          notification,
          posting: { ...posting, state: 'waiting', dueAt: clock.now() },
        };
        keep(sending);
        before = before.then(() => (closing.signal.aborted ? undefined : attempt(sending)));
        underWay.set(posting.id, before);
      }
    },
    close: async () => {
      clearTimeout(timer);
      closing.abort();
      await Promise.all(underWay.values());
    },
  };
}

function recordAttempt(
  { posting, notification }: PendingDelivery,
  attempt: NotificationDelivery['attempts'][number],
): NotificationDelivery {
  const attempts = [...posting.attempts, attempt];
  if (attempt.status !== undefined && notification.isDelivered(attempt.status)) {
    return { ...posting, attempts, state: 'delivered' };
  }
  const delayMs = notification.retryDelaysMs[posting.attempts.length];
  if (delayMs === undefined) return { ...posting, attempts, state: 'failed' };
  return { ...posting, attempts, dueAt: attempt.at + delayMs };
}

function evictOldest(sendings: Map<string, PendingDelivery>): void {
  const over = [...sendings.values()].filter(
    ({ posting }) => posting.state === 'delivered' || posting.state === 'failed',
  );
  for (const { posting } of over.slice(0, Math.max(0, over.length - maxFinishedDeliveries)))
    sendings.delete(posting.id);
}
