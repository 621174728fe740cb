import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Clock, movableClock } from './clock.ts';
import { type Emulator, type OpenStore, storeOf } from './emulator.ts';
import { noFaults } from './faults.ts';
import { emptyJournal } from './journal.ts';
import { emulatorServer } from './server.ts';
import { readState, type State, stateFile, unreadableState } from './state-file.ts';
import { stores } from './stores.ts';

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
  /** Stops answering, and writes the state file. */
  readonly close: () => Promise<void>;
}

/** Starts all stores of the registry on one port. Rejects when the port is taken or the state file is another's. */
export async function startEmulator(options: EmulatorOptions): Promise<RunningEmulator> {
  const { port, host = '127.0.0.1', clock = movableClock(), stateFile: path } = options;
  const emulator = path === undefined ? await openEmulator(clock, {}) : await reopenEmulator(clock, path);
  const file = path === undefined ? undefined : stateFile(path, () => stateOf(emulator));
  const server = emulatorServer(emulator, () => file?.writeSoon());
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    clock,
    settings: (platform) => storeOf(emulator, platform).settings,
    rootCertificate: rootOf(emulator),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await file?.flush();
    },
  };
}

async function reopenEmulator(clock: Clock, path: string): Promise<Emulator> {
  const saved = await readState(path);
  if (saved === undefined) return await openEmulator(clock, {});
  clock.set(Date.now() + saved.clockOffsetMs);
  return await openEmulator(clock, saved.stores).catch((cause: unknown) => {
    throw unreadableState(path, cause);
  });
}

async function openEmulator(clock: Clock, saved: State['stores']): Promise<Emulator> {
  const journal = emptyJournal();
  const open = stores.map(async ({ open, ...definition }): Promise<OpenStore> => {
    const { platform } = definition;
    const store = await open({
      now: clock.now,
      saved: saved[platform],
      tell: (message) => journal.add({ platform, ...message }),
    });
    return { ...definition, ...store };
  });
  return { clock, journal, faults: noFaults(), stores: await Promise.all(open) };
}

const stateOf = ({ clock, stores }: Emulator): State => ({
  version: 1,
  clockOffsetMs: clock.now() - Date.now(),
  stores: Object.fromEntries(stores.map((store) => [store.platform, store.save()])),
});

function rootOf({ stores }: Emulator): Buffer {
  const [root] = stores.flatMap(({ rootCertificate }) => rootCertificate ?? []);
  if (root === undefined) throw new Error('No store signs with certificates');
  return root;
}
