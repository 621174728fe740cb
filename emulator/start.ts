import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { createClock } from './clock.ts';
import { startEmulator } from './start-emulator.ts';

interface Options {
  readonly port: number;
  readonly host: string;
  readonly clock?: number;
  readonly stateFile?: string;
  readonly rootCertificate?: string;
}

const program = new Command('store-emulator')
  .description('Emulate the App Store, Google Play, the Microsoft Store, Stripe and Braintree on one port')
  .option('--port <port>', 'port; 0 selects a free one', parsePort, 8090)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option(
    '--clock <date>',
    'time at which the clock of the stores starts without saved state (default: now)',
    parseDate,
  )
  .option('--state-file <path>', 'file that keeps keys, purchases and clock over a restart (default: in memory)')
  .option('--root-certificate <path>', 'file to which the root certificate of the signatures is written, in PEM')
  .action(run);

await program.parseAsync();

async function run({ port, host, clock: startDate, stateFile, rootCertificate }: Options): Promise<void> {
  const clock = createClock();
  // A state file replaces it by the time of its emulator.
  if (startDate !== undefined) clock.set(startDate);
  try {
    const emulator = await startEmulator({ port, host, clock, ...(stateFile !== undefined && { stateFile }) });
    if (rootCertificate !== undefined)
      writeFileSync(rootCertificate, new X509Certificate(emulator.rootCertificate).toString());
    console.log(`Stores       ${emulator.url}/<host of the store>/<path>\nControl API  ${emulator.url}/control`);
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void emulator.close());
  } catch (error) {
    program.error(`error: ${error instanceof Error ? error.message : error}`);
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('Must be a number from 0 to 65535.');
  return port;
}

function parseDate(text: string): number {
  const date = Date.parse(text);
  if (Number.isNaN(date)) throw new InvalidArgumentError('Must be an ISO 8601 date, such as 2027-01-31T10:00:00Z.');
  return date;
}
