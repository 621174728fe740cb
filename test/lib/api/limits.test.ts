import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { collectRowsThatFit, maxResponseBytes } from '../../../lib/api/limits.ts';

const createText = (bytes: number): string => 'x'.repeat(bytes);

describe('collectRowsThatFit', () => {
  it('returns the first rows, as many as fit into a response', async () => {
    const anySizes = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(anySizes, async (sizes) => {
        const rows = sizes.map((size, index) => ({ index, text: createText(size) }));
        const { rows: accepted, remaining } = await collectRowsThatFit(rows, async (batch) => batch);
        expect(accepted).toEqual(rows.slice(0, accepted.length));
        expect(remaining).toBe(rows.length - accepted.length);
        expect(Buffer.byteLength(JSON.stringify(accepted))).toBeLessThanOrEqual(maxResponseBytes + 1);
        const oneMore = rows.slice(0, accepted.length + 1);
        if (oneMore.length > accepted.length)
          expect(Buffer.byteLength(JSON.stringify(oneMore))).toBeGreaterThan(maxResponseBytes);
      }),
      { numRuns: 20 },
    );
  });

  it('returns all rows of several batches in order', async () => {
    const entries = Array.from({ length: 1_234 }, (_, index) => index);
    const { rows: accepted } = await collectRowsThatFit(entries, async (batch) => batch.map((index) => ({ index })));
    expect(accepted.map(({ index }) => index)).toEqual(entries);
  });

  it('loads at most one batch of rows that it does not return', async () => {
    const loaded: number[] = [];
    const entries = Array.from({ length: 10_000 }, (_, index) => index);
    const { rows: accepted } = await collectRowsThatFit(entries, async (batch) => {
      loaded.push(...batch);
      return batch.map((index) => ({ index, text: createText(5_000) }));
    });
    expect(accepted.length).toBeGreaterThan(900);
    expect(loaded.length - accepted.length).toBeLessThan(500);
  });

  it('loads no other batch after 15 seconds', async () => {
    let elapsedMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    const entries = Array.from({ length: 2_100 }, (_, index) => ({ index }));
    const collect = async (batchMs: number) =>
      await collectRowsThatFit(entries, async (batch) => {
        elapsedMs += batchMs;
        return batch;
      });
    const results = [await collect(3_000), await collect(5_000), await collect(20_000)];
    clock.mockRestore();
    expect(results.map(({ rows, remaining }) => [rows.length, remaining])).toEqual([
      [2_100, 0],
      [1_500, 600],
      [500, 1_600],
    ]);
  });

  it('does not count entries without a row as remaining', async () => {
    const entries = Array.from({ length: 1_200 }, (_, index) => ({ index }));
    const odd = await collectRowsThatFit(entries, async (batch) => batch.filter(({ index }) => index % 2 === 1));
    expect([odd.rows.length, odd.remaining]).toEqual([600, 0]);
  });
});
