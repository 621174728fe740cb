import { createHash } from 'node:crypto';

const rounds = 20_000;

/** Runs a fixed loop of hashing, JSON and promises. Returns its time. */
async function runLoop(): Promise<number> {
  const startedAt = performance.now();
  let digest = '';
  for (let round = 0; round < rounds; round++) {
    const text = JSON.stringify({ round, digest, list: [1, 'two', { three: round }] });
    digest = createHash('sha256').update(text).digest('hex');
    await Promise.resolve(JSON.parse(text));
  }
  return performance.now() - startedAt;
}

await runLoop();
process.send?.(await runLoop());
