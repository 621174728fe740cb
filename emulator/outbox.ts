import { randomUUID } from 'node:crypto';
import { addPeriod } from './calendar.ts';
import type { Clock } from './clock.ts';
import { createDeliveryRules, type DeliveryRules } from './delivery-rules.ts';
import type { StoreNotification } from './emulated-store.ts';
import type { NotificationDelivery, SavedOutbox } from './notification-delivery.ts';
import { createNotificationSender, type PendingDelivery } from './notification-sender.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import { type ReleaseOrder, sortForRelease } from './release-order.ts';

/** Deliveries of the notifications of all stores. */
export interface Outbox {
  readonly deliveryRules: DeliveryRules;
  readonly urls: () => Readonly<Record<string, string>>;
  /** Sets the notification URL of a store; undefined turns its notifications off. */
  readonly setUrl: (platform: string, url: string | undefined) => void;
  /** Adds the deliveries of a notification. Ignores it if the store does not have a URL. */
  readonly add: (platform: string, notification: StoreNotification, outgoing: OutgoingNotification) => void;
  /** Returns pending and recent deliveries, the oldest first. */
  readonly listDeliveries: () => readonly NotificationDelivery[];
  /** Sends the held deliveries sequentially and returns their number. */
  readonly release: (order: ReleaseOrder & { readonly platform?: string }) => number;
  readonly sendDue: () => void;
  readonly toSavedState: () => SavedOutbox;
  /** Aborts the attempts in progress. They are due again at the next start. */
  readonly close: () => Promise<void>;
}

interface OutboxOptions {
  /** Time for the response to a notification. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  readonly clock: Clock;
  readonly saved?: SavedOutbox | undefined;
  /** Builds the HTTP request of a saved delivery. */
  readonly toOutgoingNotification: (
    platform: string,
    notification: StoreNotification,
  ) => OutgoingNotification | undefined;
  /** Called after each attempt. */
  readonly onChange: () => void;
}

/** Creates an outbox with the saved deliveries of an earlier run. */
export function createOutbox({ clock, saved, timeoutMs, toOutgoingNotification, onChange }: OutboxOptions): Outbox {
  const urls = new Map(Object.entries(saved?.urls ?? {}));
  const deliveryRules = createDeliveryRules();
  const sender = createNotificationSender({ clock, timeoutMs, onChange });
  for (const delivery of saved?.deliveries ?? []) {
    const notification = toOutgoingNotification(delivery.platform, delivery);
    if (notification !== undefined) sender.add({ delivery, notification });
  }
  const listDeliveries = () => sender.list().map(({ delivery }) => delivery);
  return {
    deliveryRules,
    listDeliveries,
    urls: () => Object.fromEntries(urls),
    setUrl: (platform, url) => {
      if (url === undefined) urls.delete(platform);
      else urls.set(platform, url);
    },
    add: (platform, notification, outgoing) => {
      const url = urls.get(platform);
      if (url === undefined) return;
      const { times = 1, held = false, delayed } = deliveryRules.consume(platform);
      const now = clock.now();
      const delivery = {
        ...createDelivery(notification, { held, dueAt: delayed ? addPeriod(now, delayed) : now }),
        platform,
        url,
        body: outgoing.body,
      };
      for (let copy = 0; copy < times; copy += 1)
        sender.add({ delivery: { ...delivery, id: randomUUID() }, notification: outgoing });
      sender.sendDue();
    },
    release: ({ platform, ...order }) => {
      const held = sender
        .list()
        .filter(({ delivery }) => delivery.state === 'held' && matchesPlatform(platform, delivery));
      sender.sendSequentially(sortForRelease(held, order));
      return held.length;
    },
    sendDue: sender.sendDue,
    toSavedState: () => ({ urls: Object.fromEntries(urls), deliveries: listDeliveries() }),
    close: sender.close,
  };
}

const matchesPlatform = (platform: string | undefined, delivery: PendingDelivery['delivery']): boolean =>
  platform === undefined || delivery.platform === platform;

const createDelivery = (
  { purchaseId, at, native, transactionId }: StoreNotification,
  { held, dueAt }: { readonly held: boolean; readonly dueAt: number },
) => ({
  purchaseId,
  at,
  native,
  ...(transactionId !== undefined && { transactionId }),
  state: held ? ('held' as const) : ('waiting' as const),
  dueAt,
  attempts: [],
});
