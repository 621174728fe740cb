import { randomUUID } from 'node:crypto';
import { addPeriod } from './calendar.ts';
import type { Clock } from './clock.ts';
import { createDeliveryRules, type DeliveryRules } from './delivery-rules.ts';
import type { StoreNotification } from './emulated-store.ts';
import type { NotificationDelivery, SavedOutbox } from './notification-delivery.ts';
import { createNotificationSender, type PendingDelivery } from './notification-sender.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import { type ReleaseOrder, sortForRelease } from './release-order.ts';

/** Where the notifications of all stores wait, leave and are remembered. */
export interface Outbox {
  readonly deliveryRules: DeliveryRules;
  readonly urls: () => Readonly<Record<string, string>>;
  /** Sets where the store posts to; undefined has it post nothing. */
  readonly setUrl: (platform: string, url: string | undefined) => void;
  /** Takes a notification in, unless nobody wants those of its store. */
  readonly add: (platform: string, message: StoreNotification, notification: OutgoingNotification) => void;
  /** All that waits or was sent lately, the oldest first. */
  readonly listDeliveries: () => readonly NotificationDelivery[];
  /** Sends what is held, one after the other, and tells how many that are. */
  readonly release: (order: ReleaseOrder & { readonly platform?: string }) => number;
  /** Attempts what is due. */
  readonly sendDue: () => void;
  readonly toSavedState: () => SavedOutbox;
  /** Breaks off the attempts that are under way; they are due again at the next start. */
  readonly close: () => Promise<void>;
}

interface OutboxOptions {
  readonly clock: Clock;
  readonly saved?: SavedOutbox | undefined;
  /** How a store posts a notification, for those that an earlier run took in. */
  readonly toOutgoingNotification: (platform: string, message: StoreNotification) => OutgoingNotification | undefined;
  /** Called when attempts made the outbox another. */
  readonly changed: () => void;
}

/** An outbox that sends what an earlier run left waiting. */
export function createOutbox({ clock, saved, toOutgoingNotification: notificationOf, changed }: OutboxOptions): Outbox {
  const urls = new Map(Object.entries(saved?.urls ?? {}));
  const deliveryRules = createDeliveryRules();
  const postman = createNotificationSender({ clock, changed });
  for (const delivery of saved?.deliveries ?? []) {
    const notification = notificationOf(delivery.platform, delivery);
    if (notification !== undefined) postman.add({ delivery, notification });
  }
  return {
    deliveryRules,
    urls: () => Object.fromEntries(urls),
    setUrl: (platform, url) => {
      if (url === undefined) urls.delete(platform);
      else urls.set(platform, url);
    },
    add: (platform, message, notification) => {
      const url = urls.get(platform);
      if (url === undefined) return;
      const { times = 1, ...when } = deliveryRules.consume(platform);
      const now = clock.now();
      const delivery = {
        ...createDelivery(message, {
          held: when.held === true,
          dueAt: when.delayed ? addPeriod(now, when.delayed) : now,
        }),
        platform,
        url,
        body: notification.body,
      };
      for (let copy = 0; copy < times; copy += 1)
        postman.add({ delivery: { ...delivery, id: randomUUID() }, notification });
      postman.sendDue();
    },
    listDeliveries: () => postman.list().map(({ delivery }) => delivery),
    release: ({ platform, ...order }) => {
      const held = postman
        .list()
        .filter(({ delivery }) => delivery.state === 'held' && matchesPlatform(platform, delivery));
      postman.sendSequentially(sortForRelease(held, order));
      return held.length;
    },
    sendDue: postman.sendDue,
    toSavedState: () => ({
      urls: Object.fromEntries(urls),
      deliveries: postman.list().map(({ delivery }) => delivery),
    }),
    close: postman.close,
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
