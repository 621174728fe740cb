import type { Clock } from './clock.ts';
import type { NotificationDeliveries, StoreNotification } from './emulated-store.ts';
import type { Emulator, RunningStore } from './emulator.ts';
import { createFaultQueue } from './faults.ts';
import { createNotificationLog } from './notification-log.ts';
import { createOutbox } from './outbox.ts';
import type { EmulatorState } from './state-file.ts';
import type { StoreKeys } from './store-keys.ts';
import { storeDefinitions } from './stores.ts';

/** Callback for changes that the state file must save. Assigned after the state file is open. */
export interface ChangeListener {
  onChange: () => void;
}

/** Sources of an emulator's data. */
export interface EmulatorSources {
  readonly clock: Clock;
  readonly changes: ChangeListener;
  /** Keys for stores without saved state. Default: new ones. */
  readonly keys?: StoreKeys | undefined;
  readonly saved?: EmulatorState;
  /** Time for the response to a notification. Default: 10 s. */
  readonly notificationTimeoutMs?: number | undefined;
}

/** Opens all stores of the registry and the outbox, from the saved state if there is one. */
export async function createEmulator(sources: EmulatorSources): Promise<Emulator> {
  const { clock, changes, keys, saved, notificationTimeoutMs } = sources;
  const notificationLog = createNotificationLog();
  const stores: RunningStore[] = [];
  const toOutgoingNotification = (platform: string, notification: StoreNotification) =>
    stores.find((store) => store.platform === platform)?.toOutgoingNotification?.(notification);
  const emitNotification = (platform: string, notification: StoreNotification): void => {
    notificationLog.add({ platform, ...notification });
    if (outbox.urls()[platform] === undefined) return;
    const outgoing = toOutgoingNotification(platform, notification);
    if (outgoing !== undefined) outbox.add(platform, notification, outgoing);
  };
  const createDeliveries = (platform: string): NotificationDeliveries => ({
    url: () => outbox.urls()[platform],
    list: () => outbox.listDeliveries().filter((delivery) => delivery.platform === platform),
  });
  const opened = storeDefinitions.map(async ({ open, ...definition }): Promise<RunningStore> => {
    const { platform } = definition;
    const store = await open({
      now: clock.now,
      savedState: saved?.stores[platform],
      savedKeys: keys?.[platform],
      emitNotification: (notification) => emitNotification(platform, notification),
      deliveries: createDeliveries(platform),
    });
    return { ...definition, ...store };
  });
  stores.push(...(await Promise.all(opened)));
  const outbox = createOutbox({
    clock,
    saved: saved?.outbox,
    timeoutMs: notificationTimeoutMs,
    toOutgoingNotification,
    onChange: () => changes.onChange(),
  });
  return { clock, notificationLog, outbox, faults: createFaultQueue(), accountProblems: new Map(), stores };
}
