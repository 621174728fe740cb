import type { Clock } from './clock.ts';
import type { EmulatedStore } from './emulated-store.ts';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Outbox } from './outbox.ts';
import { refusal } from './refusal.ts';

/** Everything that the emulator holds while it runs. */
export interface Emulator {
  readonly clock: Clock;
  readonly stores: readonly OpenStore[];
  readonly faults: Faults;
  readonly journal: Journal;
  readonly outbox: Outbox;
}

/** A store of the registry that is open. */
export interface OpenStore extends EmulatedStore {
  readonly platform: string;
  readonly aliases: readonly string[];
  readonly hosts: readonly string[];
}

/** The store with this platform token; refuses one that is not emulated. */
export function storeOf({ stores }: Emulator, platform: string, status: 400 | 404 = 404): OpenStore {
  const store = stores.find((one) => one.platform === platform || one.aliases.includes(platform));
  const known = stores.map((one) => one.platform).join(', ');
  if (store === undefined) throw refusal(status, `platform: ${platform} is not emulated, only ${known}.`);
  return store;
}

/** Plays what happened by itself since the last call, in every store, and tells whether that was anything. */
export function catchUp({ stores, clock, outbox }: Emulator): boolean {
  const now = clock.now();
  const happened = stores.map((store) => store.playUntil(now)).includes(true);
  outbox.sendDue();
  return happened;
}
