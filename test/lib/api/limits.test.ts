import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { collectRowsThatFit, maxResponseBytes } from '../../../lib/api/limits.ts';

const createText = (bytes: number): string => 'x'.repeat(bytes);

describe('collectRowsThatFit', () => {
  it('returns the first rows, as many as fit into a response', async () => {
    const anySizes = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(anySizes, async (sizes) => {
        const rows = sizes.map((size, index) => ({ index, text: createText(size) }));
        const accepted = await collectRowsThatFit(rows, async (batch) => batch);
        expect(accepted).toEqual(rows.slice(0, accepted.length));
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
    const accepted = await collectRowsThatFit(entries, async (batch) => batch.map((index) => ({ index })));
    expect(accepted.map(({ index }) => index)).toEqual(entries);
  });

  it('loads at most one batch of rows that it does not return', async () => {
    const loaded: number[] = [];
    const entries = Array.from({ length: 10_000 }, (_, index) => index);
    const accepted = await collectRowsThatFit(entries, async (batch) => {
      loaded.push(...batch);
      return batch.map((index) => ({ index, text: createText(5_000) }));
    });
    expect(accepted.length).toBeGreaterThan(900);
    expect(loaded.length - accepted.length).toBeLessThan(500);
  });
});
