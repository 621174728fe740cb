import type { Clock } from './clock.ts';
import type { Outgoing, StoreMessage } from './emulated-store.ts';
import type { Emulator, OpenStore } from './emulator.ts';
import { noFaults } from './faults.ts';
import { emptyJournal } from './journal.ts';
import { openOutbox } from './outbox.ts';
import type { State } from './state-file.ts';
import { stores } from './stores.ts';

/** Whom to tell that there is something to write down; nobody until the state file is open. */
export interface Changes {
  changed: () => void;
}

/** Opens all stores of the registry, and the outbox for what they notify; new ones, or as they were saved. */
export async function openEmulator(clock: Clock, changes: Changes, saved?: State): Promise<Emulator> {
  const journal = emptyJournal();
  const open: OpenStore[] = [];
  const storeNamed = (platform: string): OpenStore | undefined => open.find((one) => one.platform === platform);
  const tell = (platform: string, message: StoreMessage): void => {
    journal.add({ platform, ...message });
    if (outbox.urls()[platform] === undefined) return;
    const notification = storeNamed(platform)?.notification?.(message);
    if (notification !== undefined) outbox.add(platform, message, notification);
  };
  const outgoing = (platform: string): Outgoing => ({
    url: () => outbox.urls()[platform],
    postings: () => outbox.postings().filter((posting) => posting.platform === platform),
  });
  const opened = stores.map(async ({ open, ...definition }): Promise<OpenStore> => {
    const { platform } = definition;
    const store = await open({
      now: clock.now,
      saved: saved?.stores[platform],
      tell: (message) => tell(platform, message),
      outgoing: outgoing(platform),
    });
    return { ...definition, ...store };
  });
  open.push(...(await Promise.all(opened)));
  const outbox = openOutbox({
    clock,
    saved: saved?.outbox,
    notificationOf: (platform, message) => storeNamed(platform)?.notification?.(message),
    changed: () => changes.changed(),
  });
  return { clock, journal, outbox, faults: noFaults(), stores: open };
}
