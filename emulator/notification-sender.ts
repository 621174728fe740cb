import { hourMs } from './calendar.ts';
import type { Clock } from './clock.ts';
import type { NotificationDelivery } from './notification-delivery.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import { defaultNotificationTimeoutMs, postNotification } from './post-notification.ts';

/** Delivery with the HTTP request of its notification. */
export interface PendingDelivery {
  readonly delivery: NotificationDelivery;
  readonly notification: OutgoingNotification;
}

/** Attempts deliveries concurrently and retries failed ones. */
export interface NotificationSender {
  readonly add: (pending: PendingDelivery) => void;
  readonly list: () => readonly PendingDelivery[];
  /** Starts an attempt of each due delivery without waiting for the results. */
  readonly sendDue: () => void;
  /** Attempts each delivery after the response to the previous one, so that they arrive in this order. */
  readonly sendSequentially: (deliveries: readonly PendingDelivery[]) => void;
  readonly close: () => Promise<void>;
}

const maxFinishedDeliveries = 500;
const maxTimerMs = hourMs;

/** Creates a sender without deliveries. `onChange` is called after each attempt. */
export function createNotificationSender({
  clock,
  timeoutMs = defaultNotificationTimeoutMs,
  onChange,
}: {
  readonly clock: Clock;
  readonly timeoutMs?: number | undefined;
  readonly onChange: () => void;
}): NotificationSender {
  const deliveries = new Map<string, PendingDelivery>();
  const inProgress = new Map<string, Promise<void>>();
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const save = (pending: PendingDelivery): void => {
    deliveries.set(pending.delivery.id, pending);
  };
  const attempt = async (pending: PendingDelivery): Promise<void> => {
    const { delivery, notification } = pending;
    const at = clock.now();
    const headers = notification.buildHeaders(at);
    const { url, body } = delivery;
    const outcome = await postNotification({ url, headers, body, signal: closing.signal, timeoutMs });
    inProgress.delete(delivery.id);
    if (outcome === undefined) return;
    save({ notification, delivery: recordAttempt(pending, { at, ...outcome }) });
    evictOldest(deliveries);
    onChange();
    setTimer();
  };
  const isWaiting = ({ delivery: { id, state } }: PendingDelivery): boolean =>
    state === 'waiting' && !inProgress.has(id) && !closing.signal.aborted;
  const sendDue = (): void => {
    for (const pending of deliveries.values())
      if (isWaiting(pending) && pending.delivery.dueAt <= clock.now())
        inProgress.set(pending.delivery.id, attempt(pending));
    setTimer();
  };
  const setTimer = (): void => {
    clearTimeout(timer);
    const dueTimes = [...deliveries.values()].filter(isWaiting).map(({ delivery }) => delivery.dueAt);
    if (dueTimes.length === 0) return;
    const waitMs = Math.min(...dueTimes) - clock.now();
    timer = setTimeout(sendDue, Math.min(Math.max(waitMs, 0), maxTimerMs)).unref();
  };
  return {
    list: () => [...deliveries.values()],
    add: save,
    sendDue,
    sendSequentially: (selected) => {
      let previous: Promise<void> = Promise.resolve();
      for (const { delivery, notification } of selected) {
        const pending: PendingDelivery = {
          notification,
          delivery: { ...delivery, state: 'waiting', dueAt: clock.now() },
        };
        save(pending);
        previous = previous.then(() => (closing.signal.aborted ? undefined : attempt(pending)));
        inProgress.set(delivery.id, previous);
      }
    },
    close: async () => {
      clearTimeout(timer);
      closing.abort();
      await Promise.all(inProgress.values());
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

function evictOldest(deliveries: Map<string, PendingDelivery>): void {
  const finished = [...deliveries.values()].filter(
    ({ delivery }) => delivery.state === 'delivered' || delivery.state === 'failed',
  );
  for (const { delivery } of finished.slice(0, Math.max(0, finished.length - maxFinishedDeliveries)))
    deliveries.delete(delivery.id);
}
