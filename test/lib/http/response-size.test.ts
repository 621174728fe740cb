import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { collectRowsThatFit, maxResponseBytes } from '../../../lib/http/response-size.ts';

const mega = 1_000_000;
const textOf = (bytes: number): string => 'x'.repeat(bytes);

describe('the rows that fit into an answer', () => {
  it('are the first ones, and as many as it can hold', async () => {
    const anySizes = fc.array(fc.integer({ min: 0, max: mega }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(anySizes, async (sizes) => {
        const rows = sizes.map((size, index) => ({ index, text: textOf(size) }));
        const fitting = await collectRowsThatFit(rows, async (batch) => batch);
        expect(fitting).toEqual(rows.slice(0, fitting.length));
        expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThanOrEqual(maxResponseBytes + 1);
        const more = rows.slice(0, fitting.length + 1);
        if (more.length > fitting.length)
          expect(Buffer.byteLength(JSON.stringify(more))).toBeGreaterThan(maxResponseBytes);
      }),
      { numRuns: 20 },
    );
  });

  it('are all of many, in their order', async () => {
    const listed = Array.from({ length: 1_234 }, (_, index) => index);
    const fitting = await collectRowsThatFit(listed, async (batch) => batch.map((index) => ({ index })));
    expect(fitting.map(({ index }) => index)).toEqual(listed);
  });

  it('are made until it is full, and few that are left out', async () => {
    const made: number[] = [];
    const listed = Array.from({ length: 10_000 }, (_, index) => index);
    const fitting = await collectRowsThatFit(listed, async (batch) => {
      made.push(...batch);
      return batch.map((index) => ({ index, text: textOf(5_000) }));
    });
    expect(fitting.length).toBeGreaterThan(900);
    expect(made.length - fitting.length).toBeLessThan(500);
  });
});
