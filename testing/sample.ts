import { crc32 } from 'node:zlib';
import fc from 'fast-check';

/** Seed of all random samples of the run. `SEED=<seed>` repeats a run. The global setup prints it. */
const seed = Number(process.env.SEED);

/** With `FULL=1`, samples are as large as the whole. */
export const isFull: boolean = process.env.FULL === '1';

/** `SHARD=2/3 FULL=1` runs the second third of the whole, so that three processes share it. */
const [shard = 1, shardCount = 1] = (process.env.SHARD ?? '1/1').split('/').map(Number);

interface SampleSizes {
  /** Number of runs by default. */
  readonly sample: number;
  /** Number of runs with `FULL=1`. */
  readonly full: number;
}

/** Returns the parameters of a property whose runs are too slow for the default number of runs. */
export const sampleRuns = ({ sample, full }: SampleSizes): { readonly numRuns: number; readonly seed: number } => ({
  numRuns: isFull ? Math.ceil(full / shardCount) : sample,
  seed: toSeed(shard - 1),
});

/** Generates values without an end. A run with the seed of a value generates it first. */
export function* generateSamples<T>(
  arbitrary: fc.Arbitrary<T>,
): Generator<{ readonly value: T; readonly seed: number }> {
  for (let index = shard - 1; ; index += shardCount) {
    const ownSeed = toSeed(index);
    for (const value of fc.sample(arbitrary, { numRuns: 1, seed: ownSeed })) yield { value, seed: ownSeed };
  }
}

/** Seeds that follow each other generate similar values. */
const toSeed = (index: number): number => (index === 0 ? seed : crc32(`${seed} ${index}`) % 2 ** 31);

/**
 * Returns `size` random items, in their order; with `FULL=1` all of them, or those of the shard, at least one. Samples
 * with other names are other samples.
 */
export function sampleItems<T>(items: readonly T[], size: number, name = ''): readonly T[] {
  if (!isFull) return selectRandomItems(items, size, (seed + crc32(name)) % 2 ** 31);
  const ofShard = items.filter((_item, index) => index % shardCount === shard - 1);
  return ofShard.length > 0 ? ofShard : items.slice(0, 1);
}

/** Runs a check for the items that `sampleItems` selects. An error names the item. */
export async function checkSample<T>(
  items: readonly T[],
  size: number,
  check: (item: T) => Promise<void>,
): Promise<void> {
  for (const item of sampleItems(items, size)) {
    try {
      await check(item);
    } catch (cause) {
      throw new Error(`The check of ${JSON.stringify(item)} failed. SEED=${seed} repeats it.`, { cause });
    }
  }
}

function selectRandomItems<T>(items: readonly T[], size: number, sampleSeed: number): readonly T[] {
  const length = Math.min(size, items.length);
  const [selected = []] = fc.sample(fc.shuffledSubarray([...items], { minLength: length, maxLength: length }), {
    numRuns: 1,
    seed: sampleSeed,
  });
  return items.filter((item) => selected.includes(item));
}
