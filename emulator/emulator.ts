import type { Clock } from './clock.ts';
import { controlError } from './control-error.ts';
import type { EmulatedStore } from './emulated-store.ts';
import type { FaultQueue } from './faults.ts';
import type { NotificationDelivery } from './notification-delivery.ts';
import type { NotificationLog } from './notification-log.ts';
import type { Outbox } from './outbox.ts';
import { findEarliestTime } from './run-due.ts';

/** Running emulator without its HTTP server. */
export interface Emulator {
  readonly clock: Clock;
  readonly stores: readonly RunningStore[];
  readonly faults: FaultQueue;
  /** Name of the problem of each developer account that has one, by platform. */
  readonly accountProblems: Map<string, string>;
  readonly notificationLog: NotificationLog;
  readonly outbox: Outbox;
}

/** Open store with its registry entry. */
export interface RunningStore extends EmulatedStore {
  readonly platform: string;
  readonly aliases: readonly string[];
  readonly hosts: readonly string[];
}

/** Returns the store with this token or alias. Throws `ControlError` if it is not emulated. */
export function getStore({ stores }: Emulator, name: string, status: 400 | 404 = 404): RunningStore {
  const store = stores.find(({ platform, aliases }) => platform === name || aliases.includes(name));
  const platforms = stores.map(({ platform }) => platform).join(', ');
  if (store === undefined)
    throw controlError(status, `platform: ${name} is not emulated. Emulated stores: ${platforms}.`);
  return store;
}

/**
 * Runs the transitions that are due in all stores and sends due notifications. Returns the time of the next transition
 * or retry of a notification.
 */
export function advanceStores({ stores, clock, outbox }: Emulator): number | undefined {
  const now = clock.now();
  const transitionTimes = stores.map((store) => store.advanceTo(now));
  outbox.sendDue();
  // The attempt of a delivery that is due is in progress.
  const isRetried = ({ state, dueAt }: NotificationDelivery): boolean => state === 'waiting' && dueAt > now;
  const retryTimes = outbox.listDeliveries().map((delivery) => (isRetried(delivery) ? delivery.dueAt : undefined));
  return findEarliestTime([...transitionTimes, ...retryTimes]);
}
