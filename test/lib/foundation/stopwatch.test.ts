import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { createStopwatch } from '../../../lib/foundation/stopwatch.ts';

describe('createStopwatch', () => {
  it('aborts after the duration on the stopwatch', async () => {
    const stopwatch = createStopwatch();
    const startMs = stopwatch.readMs();
    await once(stopwatch.abortAfter(20), 'abort');
    // A timer can end a millisecond early.
    expect(stopwatch.readMs() - startMs).toBeGreaterThanOrEqual(19);
  });

  it('aborts later in real time if a factor slows it down', async () => {
    const stopwatch = createStopwatch(10);
    const [startMs, realStartMs] = [stopwatch.readMs(), performance.now()];
    await once(stopwatch.abortAfter(20), 'abort');
    expect(performance.now() - realStartMs).toBeGreaterThanOrEqual(199);
    expect(stopwatch.readMs() - startMs).toBeGreaterThanOrEqual(19);
  });
});
