import { setTimeout as sleep } from 'node:timers/promises';
import { secondMs } from '../lib/foundation/time.ts';
import type { Output } from './output.ts';

const pollIntervalMs = 2 * secondMs;

/** Prints once, or with `follow` every two seconds until the operator ends the command. */
export async function printRepeatedly(
  print: () => Promise<void>,
  { follow, output }: { readonly follow: boolean; readonly output: Output },
): Promise<void> {
  const interrupt = follow ? output.listenForInterrupt() : undefined;
  await print();
  while (interrupt && !interrupt.aborted) {
    await sleep(pollIntervalMs, undefined, { signal: interrupt }).catch(() => {});
    await print();
  }
}
