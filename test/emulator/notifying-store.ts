import { addPeriod } from '../../emulator/calendar.ts';
import type { EmulatedStore, StoreDefinition } from '../../emulator/emulated-store.ts';
import type { OutgoingNotification } from '../../emulator/outgoing-notification.ts';
import { startTime } from './emulator-client.ts';
import type { Step } from './random-histories.ts';

/** A store of the emulator alone, which keeps what it would post. */
export interface NotifyingStore extends EmulatedStore {
  readonly now: () => number;
  /** What was posted since it was last asked. */
  readonly takePosted: () => readonly OutgoingNotification[];
  /** Lives a purchase through the steps; gives what the last one posts. */
  readonly runSteps: (purchaseId: string, steps: readonly Step[]) => readonly OutgoingNotification[];
  /** Moves the clock by a period; what is due by then happens. */
  readonly advance: (period: string) => void;
}

/** Opens a store whose clock stands still at `start`: a new one, or one as it was saved. */
export async function openNotifyingStore(definition: StoreDefinition, savedState?: unknown): Promise<NotifyingStore> {
  let now = startTime;
  let posted: OutgoingNotification[] = [];
  const store: EmulatedStore = await definition.open({
    now: () => now,
    savedState,
    emitNotification: (message) => posted.push(buildNotification(store, message)),
    deliveries: { url: () => undefined, list: () => [] },
  });
  const advance = (period: string): void => {
    now = addPeriod(now, period);
    store.advanceTo(now);
  };
  const taken = () => {
    const taken = posted;
    posted = [];
    return taken;
  };
  return {
    ...store,
    now: () => now,
    takePosted: taken,
    advance,
    runSteps: (purchaseId, steps) => {
      for (const step of steps) {
        taken();
        if (typeof step === 'string') advance(step);
        else store.actions[step[0]]?.(purchaseId, step[1] ?? {});
      }
      return taken();
    },
  };
}

function buildNotification(
  store: EmulatedStore,
  message: Parameters<NonNullable<EmulatedStore['toOutgoingNotification']>>[0],
) {
  const outgoing = store.toOutgoingNotification?.(message);
  if (outgoing === undefined) throw new Error('The store posts nothing');
  return outgoing;
}
