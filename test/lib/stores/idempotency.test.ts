import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { createRunOnce } from '../../../lib/stores/operation-table.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

/** Creates a payment that counts its charges. The results apply to the charges in order. */
function createPayment(...results: ('charged' | 'timeout' | 'rejected')[]) {
  const state = { charges: 0, isRecoverable: true };
  const runOnce = createRunOnce(table, { appName: createUniqueName(), platform: 'processor_b', now: () => startDate });
  const charge = async () => {
    const result = results.shift() ?? 'charged';
    if (result !== 'rejected') state.charges++;
    if (result !== 'charged') throw new ServiceError('ConnectionFailed', result);
    return { charge: state.charges };
  };
  const recover = async () => {
    if (!state.isRecoverable) throw new ServiceError('ConnectionFailed', 'recovery');
    return state.charges > 0 ? { charge: state.charges } : undefined;
  };
  return { state, pay: () => runOnce('nonce', charge, recover) };
}

describe('createRunOnce', () => {
  it('returns the stored result for a repeated key', async () => {
    const { state, pay } = createPayment();
    expect([await pay(), await pay(), await pay()]).toEqual([{ charge: 1 }, { charge: 1 }, { charge: 1 }]);
    expect(state.charges).toBe(1);
  });

  it('runs the operation once for concurrent calls, and returns its result to each', async () => {
    const { state, pay } = createPayment();
    const results = await Promise.all(Array.from({ length: 8 }, pay));
    expect(results).toEqual(results.map(() => ({ charge: 1 })));
    expect(state.charges).toBe(1);
  });

  it('recovers the result of a run that timed out', async () => {
    const { state, pay } = createPayment('timeout');
    await expect(pay()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(await pay()).toEqual({ charge: 1 });
    expect(state.charges).toBe(1);
  });

  it('runs the operation again if a failed run had no effect', async () => {
    const { state, pay } = createPayment('rejected');
    await expect(pay()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(await pay()).toEqual({ charge: 1 });
    expect(state.charges).toBe(1);
  });

  it('throws Conflict until an interrupted run has exceeded its maximum duration, then recovers', async () => {
    const appName = createUniqueName();
    let now = startDate;
    const waiting = { maxWaits: 1, waitMs: 1 };
    const runOnce = createRunOnce(table, { appName, platform: 'processor_b', now: () => now, waiting });
    await new Promise<void>((resolve) => {
      const interrupted = async () => {
        resolve();
        return await new Promise<never>(() => {});
      };
      void runOnce('nonce', interrupted, async () => undefined);
    });
    const charge = async () => ({ charge: 2 });
    const pay = () => runOnce('nonce', charge, async () => ({ charge: 1 }));
    await expect(pay()).rejects.toMatchObject({ code: 'Conflict' });
    now += 61_000;
    expect(await pay()).toEqual({ charge: 1 });
  });

  it('recovers again immediately after a failed recovery', async () => {
    const { state, pay } = createPayment('timeout');
    await expect(pay()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    state.isRecoverable = false;
    await expect(pay()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    state.isRecoverable = true;
    expect(await pay()).toEqual({ charge: 1 });
    expect(state.charges).toBe(1);
  });
});
