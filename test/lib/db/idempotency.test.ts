import { beforeAll, describe, expect, it } from '@jest/globals';
import { createRunOnce } from '../../../lib/db/idempotency.ts';
import type { Table } from '../../../lib/db/table.ts';
import { ServiceError } from '../../../lib/shared/errors.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

/** A till that counts its charges; `answers` tells what each of them does. */
function till(...responses: ('charged' | 'timeout' | 'refused')[]) {
  const state = { charges: 0 };
  const once = createRunOnce(table, { appName: createUniqueName(), platform: 'processor_b', now: () => startDate });
  const charge = async () => {
    const result = responses.shift() ?? 'charged';
    if (result !== 'refused') state.charges++;
    if (result !== 'charged') throw new ServiceError('ConnectionFailed', result);
    return { charge: state.charges };
  };
  const recover = async () => (state.charges > 0 ? { charge: state.charges } : undefined);
  return { state, pay: () => once('nonce', charge, recover) };
}

describe('what runs once', () => {
  it('gives its first result again and does not run again', async () => {
    const { state, pay } = till();
    expect([await pay(), await pay(), await pay()]).toEqual([{ charge: 1 }, { charge: 1 }, { charge: 1 }]);
    expect(state.charges).toBe(1);
  });

  it('runs once however many ask at the same time', async () => {
    const { state, pay } = till();
    const results = await Promise.allSettled(Array.from({ length: 8 }, pay));
    expect(state.charges).toBe(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'Conflict' });
    }
    expect(await pay()).toEqual({ charge: 1 });
  });

  it('finds out what became of a run that ended without an answer', async () => {
    const { state, pay } = till('timeout');
    await expect(pay()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(await pay()).toEqual({ charge: 1 });
    expect(state.charges).toBe(1);
  });

  it('runs again when nothing had happened', async () => {
    const { state, pay } = till('refused');
    await expect(pay()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(await pay()).toEqual({ charge: 1 });
    expect(state.charges).toBe(1);
  });

  it('waits for a run that was killed to be surely over, then recovers', async () => {
    const appName = createUniqueName();
    let now = startDate;
    const once = createRunOnce(table, { appName, platform: 'processor_b', now: () => now });
    await new Promise<void>((running) => {
      const killed = async () => {
        running();
        return await new Promise<never>(() => {});
      };
      void once('nonce', killed, async () => undefined);
    });
    const charge = async () => ({ charge: 2 });
    const ask = () => once('nonce', charge, async () => ({ charge: 1 }));
    await expect(ask()).rejects.toMatchObject({ code: 'Conflict' });
    now += 61_000;
    expect(await ask()).toEqual({ charge: 1 });
  });
});
