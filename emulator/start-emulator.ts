import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Clock, movableClock } from './clock.ts';
import { postable } from './control-notifications.ts';
import { type Emulator, storeOf } from './emulator.ts';
import { type Changes, openEmulator } from './open-emulator.ts';
import { emulatorServer } from './server.ts';
import { readState, type State, stateFile, unreadableState } from './state-file.ts';

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
  readonly notifyAt: (platform: string, url: string) => void;
  /** Stops answering, and writes the state file. */
  readonly close: () => Promise<void>;
}

/** Starts all stores of the registry on one port. Rejects when the port is taken or the state file is another's. */
export async function startEmulator(options: EmulatorOptions): Promise<RunningEmulator> {
  const { port, host = '127.0.0.1', clock = movableClock(), stateFile: path } = options;
  const changes: Changes = { changed: () => {} };
  const emulator = path === undefined ? await openEmulator(clock, changes) : await reopenEmulator(clock, changes, path);
  const file = path === undefined ? undefined : stateFile(path, () => stateOf(emulator));
  changes.changed = () => file?.writeSoon();
  const server = emulatorServer(emulator, changes.changed);
  server.listen(port, host);
  await once(server, 'listening');
  emulator.outbox.sendDue();
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    clock,
    settings: (platform) => storeOf(emulator, platform).settings,
    rootCertificate: rootOf(emulator),
    notifyAt: (platform, target) => emulator.outbox.notifyAt(storeOf(emulator, platform).platform, postable(target)),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await emulator.outbox.close();
      await file?.flush();
    },
  };
}

async function reopenEmulator(clock: Clock, changes: Changes, path: string): Promise<Emulator> {
  const saved = await readState(path);
  if (saved === undefined) return await openEmulator(clock, changes);
  clock.set(Date.now() + saved.clockOffsetMs);
  return await openEmulator(clock, changes, saved).catch((cause: unknown) => {
    throw unreadableState(path, cause);
  });
}

const stateOf = ({ clock, stores, outbox }: Emulator): State => ({
  version: 1,
  clockOffsetMs: clock.now() - Date.now(),
  stores: Object.fromEntries(stores.map((store) => [store.platform, store.save()])),
  outbox: outbox.save(),
});

function rootOf({ stores }: Emulator): Buffer {
  const [root] = stores.flatMap(({ rootCertificate }) => rootCertificate ?? []);
  if (root === undefined) throw new Error('No store signs with certificates');
  return root;
}
