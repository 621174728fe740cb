import type { Clock } from './clock.ts';
import { controlError } from './control-error.ts';
import type { EmulatedStore } from './emulated-store.ts';
import type { FaultQueue } from './faults.ts';
import type { NotificationLog } from './notification-log.ts';
import type { Outbox } from './outbox.ts';

/** Everything that the emulator holds while it runs. */
export interface Emulator {
  readonly clock: Clock;
  readonly stores: readonly RunningStore[];
  readonly faults: FaultQueue;
  readonly notificationLog: NotificationLog;
  readonly outbox: Outbox;
}

/** A store of the registry that is open. */
export interface RunningStore extends EmulatedStore {
  readonly platform: string;
  readonly aliases: readonly string[];
  readonly hosts: readonly string[];
}

/** The store with this platform token; refuses one that is not emulated. */
export function getStore({ stores }: Emulator, platform: string, status: 400 | 404 = 404): RunningStore {
  const store = stores.find((one) => one.platform === platform || one.aliases.includes(platform));
  const known = stores.map((one) => one.platform).join(', ');
  if (store === undefined) throw controlError(status, `platform: ${platform} is not emulated, only ${known}.`);
  return store;
}

/** Plays what happened by itself since the last call, in every store, and tells whether that was anything. */
export function advanceStores({ stores, clock, outbox }: Emulator): boolean {
  const now = clock.now();
  const happened = stores.map((store) => store.advanceTo(now)).includes(true);
  outbox.sendDue();
  return happened;
}
