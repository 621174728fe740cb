import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Clock, createClock } from './clock.ts';
import { parseNotificationUrl } from './control-notifications.ts';
import { type ChangeListener, createEmulator } from './create-emulator.ts';
import { type Emulator, getStore } from './emulator.ts';
import { createEmulatorServer } from './server.ts';
import { createStateFile, type EmulatorState, readState, unreadableStateError } from './state-file.ts';

interface EmulatorOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: string;
  /** The clock that the stores live by; moving it through the control API moves it for whoever else holds it. */
  readonly clock?: Clock;
  /** Keeps everything over a restart; without it nothing is kept. */
  readonly stateFile?: string;
}

/** An emulator that answers. */
export interface RunningEmulator {
  readonly url: string;
  readonly clock: Clock;
  /** What an operator would configure in the service for the store. */
  readonly settings: (platform: string) => Readonly<Record<string, unknown>>;
  /** The root, in DER, that vouches for what the emulated stores sign. */
  readonly rootCertificate: Buffer;
  /** Has the store post its notifications to the URL. */
  readonly setNotificationUrl: (platform: string, url: string) => void;
  /** Stops answering, and writes the state file. */
  readonly close: () => Promise<void>;
}

/** Starts all stores of the registry on one port. Rejects when the port is taken or the state file is another's. */
export async function startEmulator(options: EmulatorOptions): Promise<RunningEmulator> {
  const { port, host = '127.0.0.1', clock = createClock(), stateFile: path } = options;
  const changes: ChangeListener = { onChange: () => {} };
  const emulator =
    path === undefined ? await createEmulator(clock, changes) : await restoreEmulator(clock, changes, path);
  const file = path === undefined ? undefined : createStateFile(path, () => toState(emulator));
  changes.onChange = () => file?.writeSoon();
  const server = createEmulatorServer(emulator, changes.onChange);
  server.listen(port, host);
  await once(server, 'listening');
  emulator.outbox.sendDue();
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    clock,
    settings: (platform) => getStore(emulator, platform).settings,
    rootCertificate: getRootCertificate(emulator),
    setNotificationUrl: (platform, target) =>
      emulator.outbox.setUrl(getStore(emulator, platform).platform, parseNotificationUrl(target)),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await emulator.outbox.close();
      await file?.flush();
    },
  };
}

async function restoreEmulator(clock: Clock, changes: ChangeListener, path: string): Promise<Emulator> {
  const saved = await readState(path);
  if (saved === undefined) return await createEmulator(clock, changes);
  clock.set(Date.now() + saved.clockOffsetMs);
  return await createEmulator(clock, changes, saved).catch((cause: unknown) => {
    throw unreadableStateError(path, cause);
  });
}

const toState = ({ clock, stores, outbox }: Emulator): EmulatorState => ({
  version: 1,
  clockOffsetMs: clock.now() - Date.now(),
  stores: Object.fromEntries(stores.map((store) => [store.platform, store.toSavedState()])),
  outbox: outbox.toSavedState(),
});

function getRootCertificate({ stores }: Emulator): Buffer {
  const [root] = stores.flatMap(({ rootCertificate }) => rootCertificate ?? []);
  if (root === undefined) throw new Error('No store signs with certificates');
  return root;
}
