import { getStoreKeys } from '../../testing/run-keys.ts';
import { addPeriod } from '../calendar.ts';
import type { EmulatedStore, StoreDefinition } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { startTime } from './emulator-client.ts';
import type { Step } from './random-histories.ts';

/** Store without the rest of the emulator. It stores the notifications that it would post. */
export interface NotifyingStore extends EmulatedStore {
  readonly now: () => number;
  /** Returns and removes the posted notifications. */
  readonly takePosted: () => readonly OutgoingNotification[];
  /** Runs the steps on a purchase and returns the notifications of the last step. */
  readonly runSteps: (purchaseId: string, steps: readonly Step[]) => readonly OutgoingNotification[];
  /** Moves the clock by a period and runs the scheduled transitions. */
  readonly advance: (period: string) => void;
}

/** Opens a store with a fixed clock at `startTime`, from the saved state if there is one. */
export async function openNotifyingStore(definition: StoreDefinition, savedState?: unknown): Promise<NotifyingStore> {
  let now = startTime;
  let posted: OutgoingNotification[] = [];
  const store: EmulatedStore = await definition.open({
    now: () => now,
    savedState,
    savedKeys: getStoreKeys()[definition.platform],
    emitNotification: (notification) => posted.push(buildNotification(store, notification)),
    deliveries: { url: () => undefined, list: () => [] },
  });
  const advance = (period: string): void => {
    now = addPeriod(now, period);
    store.advanceTo(now);
  };
  const takePosted = () => {
    const notifications = posted;
    posted = [];
    return notifications;
  };
  return {
    ...store,
    now: () => now,
    takePosted,
    advance,
    runSteps: (purchaseId, steps) => {
      for (const step of steps) {
        takePosted();
        if (typeof step === 'string') advance(step);
        else store.actions[step[0]]?.(purchaseId, step[1] ?? {});
      }
      return takePosted();
    },
  };
}

function buildNotification(
  store: EmulatedStore,
  message: Parameters<NonNullable<EmulatedStore['toOutgoingNotification']>>[0],
) {
  const outgoing = store.toOutgoingNotification?.(message);
  if (outgoing === undefined) throw new Error('The store does not post notifications');
  return outgoing;
}
