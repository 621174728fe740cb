import type { StoreMessage } from './emulated-store.ts';

/** A server notification with the store that would send it. */
export interface JournalEntry extends StoreMessage {
  readonly platform: string;
}

/** The latest server notifications of all stores, oldest first. */
export interface Journal {
  readonly add: (entry: JournalEntry) => void;
  readonly latest: () => readonly JournalEntry[];
  /** What `act` gives, and the entries that it adds. */
  readonly during: <T>(act: () => T) => { readonly result: T; readonly entries: readonly JournalEntry[] };
}

const length = 200;

/** A journal without entries. */
export function emptyJournal(): Journal {
  let entries: readonly JournalEntry[] = [];
  let recent: JournalEntry[] | undefined;
  return {
    add: (entry) => {
      entries = [...entries, entry].slice(-length);
      recent?.push(entry);
    },
    latest: () => entries,
    during: (act) => {
      const during: JournalEntry[] = [];
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
export const shown = ({ platform, purchaseId, at, native }: JournalEntry): object => ({
  platform,
  purchaseId,
  at: new Date(at).toISOString(),
  ...native,
});
