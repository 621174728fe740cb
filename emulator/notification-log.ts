import type { StoreNotification } from './emulated-store.ts';

/** A server notification with the store that would send it. */
export interface LoggedNotification extends StoreNotification {
  readonly platform: string;
}

/** The latest server notifications of all stores, oldest first. */
export interface NotificationLog {
  readonly add: (entry: LoggedNotification) => void;
  readonly list: () => readonly LoggedNotification[];
  /** What `act` gives, and the entries that it adds. */
  readonly capture: <T>(act: () => T) => { readonly result: T; readonly entries: readonly LoggedNotification[] };
}

const length = 200;

/** A notificationLog without entries. */
export function createNotificationLog(): NotificationLog {
  let entries: readonly LoggedNotification[] = [];
  let recent: LoggedNotification[] | undefined;
  return {
    add: (entry) => {
      entries = [...entries, entry].slice(-length);
      recent?.push(entry);
    },
    list: () => entries,
    capture: (act) => {
      const during: LoggedNotification[] = [];
      recent = during;
      try {
        return { result: act(), entries: during };
      } finally {
        recent = undefined;
      }
    },
  };
}

/** An entry as the control API shows it. */
export const toLogView = ({ platform, purchaseId, at, native }: LoggedNotification): object => ({
  platform,
  purchaseId,
  at: new Date(at).toISOString(),
  ...native,
});
