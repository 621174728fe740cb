import type { Clock } from './clock.ts';
import type { NotificationDeliveries, StoreNotification } from './emulated-store.ts';
import type { Emulator, RunningStore } from './emulator.ts';
import { createFaultQueue } from './faults.ts';
import { createNotificationLog } from './notification-log.ts';
import { createOutbox } from './outbox.ts';
import type { EmulatorState } from './state-file.ts';
import { storeDefinitions } from './stores.ts';

/** Whom to tell that there is something to write down; nobody until the state file is open. */
export interface ChangeListener {
  onChange: () => void;
}

/** Opens all stores of the registry, and the outbox for what they notify; new ones, or as they were saved. */
export async function createEmulator(clock: Clock, changes: ChangeListener, saved?: EmulatorState): Promise<Emulator> {
  const notificationLog = createNotificationLog();
  const open: RunningStore[] = [];
  const storeNamed = (platform: string): RunningStore | undefined => open.find((one) => one.platform === platform);
  const tell = (platform: string, message: StoreNotification): void => {
    notificationLog.add({ platform, ...message });
    if (outbox.urls()[platform] === undefined) return;
    const notification = storeNamed(platform)?.toOutgoingNotification?.(message);
    if (notification !== undefined) outbox.add(platform, message, notification);
  };
  const outgoing = (platform: string): NotificationDeliveries => ({
    url: () => outbox.urls()[platform],
    list: () => outbox.listDeliveries().filter((delivery) => delivery.platform === platform),
  });
  const opened = storeDefinitions.map(async ({ open, ...definition }): Promise<RunningStore> => {
    const { platform } = definition;
    const store = await open({
      now: clock.now,
      savedState: saved?.stores[platform],
      emitNotification: (message) => tell(platform, message),
      deliveries: outgoing(platform),
    });
    return { ...definition, ...store };
  });
  open.push(...(await Promise.all(opened)));
  const outbox = createOutbox({
    clock,
    saved: saved?.outbox,
    toOutgoingNotification: (platform, message) => storeNamed(platform)?.toOutgoingNotification?.(message),
    changed: () => changes.onChange(),
  });
  return { clock, notificationLog, outbox, faults: createFaultQueue(), stores: open };
}
