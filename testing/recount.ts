import { spawnSync } from 'node:child_process';

/** Recounts figures from rows of the stores or of an export with a script of this folder, which describes both. */
// biome-ignore lint/suspicious/noExplicitAny: tests read figures of every shape.
export function recountRows(script: 'recount-ledger.py' | 'recount-credits.py', rows: object): any {
  const { stdout, stderr, status } = spawnSync('python3', [`testing/${script}`], {
    input: JSON.stringify(rows),
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
