import { hourMs } from './calendar.ts';
import type { Clock } from './clock.ts';
import type { NotificationDelivery } from './notification-delivery.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import { postNotification } from './post-notification.ts';

/** A delivery with what it takes to send it. */
export interface PendingDelivery {
  readonly delivery: NotificationDelivery;
  readonly notification: OutgoingNotification;
}

/** Attempts to post, concurrently, and repeats what failed. */
export interface NotificationSender {
  readonly add: (sending: PendingDelivery) => void;
  readonly list: () => readonly PendingDelivery[];
  /** Attempts at once all that is due, without waiting for how it ends. */
  readonly sendDue: () => void;
  /** Attempts each of them once the one before was answered, so that they arrive in this order. */
  readonly sendSequentially: (sendings: readonly PendingDelivery[]) => void;
  readonly close: () => Promise<void>;
}

/** How many deliveries that are over are remembered. */
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
    sendings.set(sending.delivery.id, sending);
  };
  const attempt = async (sending: PendingDelivery): Promise<void> => {
    const { delivery, notification } = sending;
    const at = clock.now();
    const headers = notification.buildHeaders(at);
    const outcome = await postNotification({ url: delivery.url, headers, body: delivery.body, signal: closing.signal });
    underWay.delete(delivery.id);
    if (outcome === undefined) return;
    keep({ notification, delivery: recordAttempt(sending, { at, ...outcome }) });
    evictOldest(sendings);
    changed();
    setTimer();
  };
  const send = (sending: PendingDelivery): Promise<void> => {
    const sent = attempt(sending);
    underWay.set(sending.delivery.id, sent);
    return sent;
  };
  const isDue = ({ id, state, dueAt }: NotificationDelivery): boolean =>
    state === 'waiting' && dueAt <= clock.now() && !underWay.has(id) && !closing.signal.aborted;
  const sendDue = (): void => {
    for (const sending of sendings.values()) if (isDue(sending.delivery)) void send(sending);
    setTimer();
  };
  const setTimer = (): void => {
    clearTimeout(timer);
    const waiting = [...sendings.values()].filter(
      ({ delivery }) => delivery.state === 'waiting' && !underWay.has(delivery.id),
    );
    if (waiting.length === 0 || closing.signal.aborted) return;
    const waitMs = Math.min(...waiting.map(({ delivery }) => delivery.dueAt)) - clock.now();
    timer = setTimeout(sendDue, Math.min(Math.max(waitMs, 0), maxTimerMs)).unref();
  };
  return {
    list: () => [...sendings.values()],
    add: keep,
    sendDue,
    sendSequentially: (chosen) => {
      let before: Promise<void> = Promise.resolve();
      for (const { delivery, notification } of chosen) {
        const sending: PendingDelivery = {
          notification,
          delivery: { ...delivery, state: 'waiting', dueAt: clock.now() },
        };
        keep(sending);
        before = before.then(() => (closing.signal.aborted ? undefined : attempt(sending)));
        underWay.set(delivery.id, before);
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
  { delivery, notification }: PendingDelivery,
  attempt: NotificationDelivery['attempts'][number],
): NotificationDelivery {
  const attempts = [...delivery.attempts, attempt];
  if (attempt.status !== undefined && notification.isDelivered(attempt.status)) {
    return { ...delivery, attempts, state: 'delivered' };
  }
  const delayMs = notification.retryDelaysMs[delivery.attempts.length];
  if (delayMs === undefined) return { ...delivery, attempts, state: 'failed' };
  return { ...delivery, attempts, dueAt: attempt.at + delayMs };
}

function evictOldest(sendings: Map<string, PendingDelivery>): void {
  const over = [...sendings.values()].filter(
    ({ delivery }) => delivery.state === 'delivered' || delivery.state === 'failed',
  );
  for (const { delivery } of over.slice(0, Math.max(0, over.length - maxFinishedDeliveries)))
    sendings.delete(delivery.id);
}
