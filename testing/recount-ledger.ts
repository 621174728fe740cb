import { spawnSync } from 'node:child_process';

/** Recounts the figures from the records of the stores with `recount-ledger.py`, which describes both. */
// biome-ignore lint/suspicious/noExplicitAny: tests read figures of every shape.
export function recountLedger(ledger: object): any {
  const { stdout, stderr, status } = spawnSync('python3', ['testing/recount-ledger.py'], {
    input: JSON.stringify(ledger),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
