import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Clock, createClock } from './clock.ts';
import { parseNotificationUrl } from './control-notifications.ts';
import { type ChangeListener, createEmulator, type EmulatorSources } from './create-emulator.ts';
import { type Emulator, getStore } from './emulator.ts';
import { createEmulatorServer } from './server.ts';
import { createStateFile, type EmulatorState, readState, unreadableStateError } from './state-file.ts';
import type { StoreKeys } from './store-keys.ts';

interface EmulatorOptions {
  /** 0 selects a free port. */
  readonly port: number;
  readonly host?: string;
  /** Clock of the stores. The control API moves it for all its users. */
  readonly clock?: Clock;
  /** File that keeps the state over a restart. Without it the state is kept in memory only. */
  readonly stateFile?: string;
  /** Keys of the stores, if they are not in the state file. Default: new ones. */
  readonly keys?: StoreKeys | undefined;
  /** Time for the response to a notification. Default: 10 s. */
  readonly notificationTimeoutMs?: number;
}

/** Emulator that accepts calls. */
export interface RunningEmulator {
  readonly url: string;
  readonly clock: Clock;
  /** Returns the settings that an operator configures in the service for the store. */
  readonly settings: (platform: string) => Readonly<Record<string, unknown>>;
  /** Root certificate (DER) of the stores' signatures. */
  readonly rootCertificate: Buffer;
  /** Returns the URLs to which the stores post their notifications, by platform. */
  readonly notificationUrls: () => Readonly<Record<string, string>>;
  /** Sets the URL to which the store posts its notifications. */
  readonly setNotificationUrl: (platform: string, url: string) => void;
  /** Removes all purchases, notifications and faults. The clock, the notification URLs and the given keys stay. */
  readonly reset: () => Promise<void>;
  /** Stops the server and writes the state file. */
  readonly close: () => Promise<void>;
}

/** Starts all stores of the registry on one port. Rejects if the port is in use or the state file is invalid. */
export async function startEmulator(options: EmulatorOptions): Promise<RunningEmulator> {
  const { port, host = '127.0.0.1', clock = createClock(), stateFile: path, keys, notificationTimeoutMs } = options;
  const changes: ChangeListener = { onChange: () => {} };
  const sources = { clock, changes, keys, notificationTimeoutMs };
  let emulator = path === undefined ? await createEmulator(sources) : await restoreEmulator(sources, path);
  const server = createEmulatorServer(
    () => emulator,
    () => changes.onChange(),
  );
  server.listen(port, host);
  await once(server, 'listening');
  const file = path === undefined ? undefined : createStateFile(path, () => toState(emulator));
  if (file !== undefined) changes.onChange = file.save;
  emulator.outbox.sendDue();
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    clock,
    settings: (platform) => getStore(emulator, platform).settings,
    rootCertificate: getRootCertificate(emulator),
    notificationUrls: () => emulator.outbox.urls(),
    setNotificationUrl: (platform, target) =>
      emulator.outbox.setUrl(getStore(emulator, platform).platform, parseNotificationUrl(target)),
    reset: async () => {
      const { outbox } = emulator;
      await outbox.close();
      emulator = await createEmulator(sources);
      for (const [platform, target] of Object.entries(outbox.urls())) emulator.outbox.setUrl(platform, target);
      changes.onChange();
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await emulator.outbox.close();
      file?.compact();
    },
  };
}

async function restoreEmulator(sources: EmulatorSources, path: string): Promise<Emulator> {
  const saved = await readState(path);
  if (saved === undefined) return await createEmulator(sources);
  sources.clock.set(Date.now() + saved.clockOffsetMs);
  return await createEmulator({ ...sources, saved }).catch((cause: unknown) => {
    throw unreadableStateError(path, cause);
  });
}

const toState = ({ clock, stores, outbox }: Emulator): EmulatorState => ({
  version: 2,
  clockOffsetMs: clock.now() - Date.now(),
  stores: Object.fromEntries(stores.map((store) => [store.platform, store.toSavedState()])),
  outbox: outbox.toSavedState(),
});

function getRootCertificate({ stores }: Emulator): Buffer {
  const [root] = stores.flatMap(({ rootCertificate }) => rootCertificate ?? []);
  if (root === undefined) throw new Error('No store has a root certificate');
  return root;
}
