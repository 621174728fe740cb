import { formatTime } from './calendar.ts';
import type { StoreNotification } from './emulated-store.ts';

/** Server notification with its store. */
export interface LoggedNotification extends StoreNotification {
  readonly platform: string;
}

/** Latest server notifications of all stores, including those without a URL, the oldest first. */
export interface NotificationLog {
  readonly add: (entry: LoggedNotification) => void;
  readonly list: () => readonly LoggedNotification[];
  /** Runs the function and returns its result with the entries that it added. */
  readonly capture: <T>(run: () => T) => { readonly result: T; readonly entries: readonly LoggedNotification[] };
}

const maxEntries = 200;

/** Creates an empty log. */
export function createNotificationLog(): NotificationLog {
  let entries: readonly LoggedNotification[] = [];
  let captured: LoggedNotification[] | undefined;
  return {
    add: (entry) => {
      entries = [...entries, entry].slice(-maxEntries);
      captured?.push(entry);
    },
    list: () => entries,
    capture: (run) => {
      const added: LoggedNotification[] = [];
      captured = added;
      try {
        return { result: run(), entries: added };
      } finally {
        captured = undefined;
      }
    },
  };
}

/** Converts an entry for responses of the control API. */
export const toLogView = ({ platform, purchaseId, at, native }: LoggedNotification): object => ({
  platform,
  purchaseId,
  at: formatTime(at),
  ...native,
});
