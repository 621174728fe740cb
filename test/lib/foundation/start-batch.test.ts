import { beforeEach, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { startBatch } from '../../../lib/foundation/start-batch.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createTestTable } from '../../../testing/table.ts';

let calls: string[];
let table: Table;
beforeEach(async () => {
  const inner = await createTestTable('start-batch');
  calls = [];
  const record =
    <A extends [readonly object[], ...unknown[]], R>(name: string, run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      calls.push(`${name} ${args[0].length}`);
      return await run(...args);
    };
  const counted = { ...inner, batchGet: record('get', inner.batchGet), batchPut: record('put', inner.batchPut) };
  table = startBatch(createService(counted)).table;
});

const item = (name: string, value = 0) => ({ pk: `share#${name}`, sk: 'S', value });

describe('startBatch', () => {
  it('reads the items of concurrent callers with one request, and gives each one its own', async () => {
    await table.batchPut([item('a', 1), item('b', 2)]);
    calls = [];
    const results = await Promise.all([
      table.get(item('a')),
      table.batchGet([item('b'), item('missing'), item('a')]),
      table.get(item('missing')),
      table.batchGet([]),
    ]);
    expect(results).toEqual([item('a', 1), [item('b', 2), item('a', 1)], undefined, []]);
    expect(calls).toEqual(['get 3']);
  });

  it('puts the items of concurrent callers with one request, and of two with the same key the last', async () => {
    await Promise.all([table.batchPut([item('c', 1), item('d', 1)]), table.batchPut([item('d', 2)])]);
    expect(calls).toEqual(['put 2']);
    expect(await table.batchGet([item('c'), item('d')])).toEqual([item('c', 1), item('d', 2)]);
  });

  it('reads what an earlier call of the same caller has put', async () => {
    for (const value of [1, 2, 3]) {
      await table.batchPut([item('e', value)]);
      expect(await table.get(item('e'))).toEqual(item('e', value));
    }
  });

  it('does not share eventually consistent reads', async () => {
    await Promise.all([table.batchGet([item('a')], { isEventuallyConsistent: true }), table.get(item('a'))]);
    expect(calls).toEqual(['get 1', 'get 1']);
  });

  it('fails only the caller whose item the table rejects', async () => {
    const huge = { ...item('huge'), text: 'x'.repeat(500_000) };
    const outcomes = await Promise.allSettled([table.batchPut([item('f', 1)]), table.batchPut([huge])]);
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { isPermanent: true } }]);
    expect(await table.get(item('f'))).toEqual(item('f', 1));
  });

  it('does not repeat calls for each caller while the table is unavailable', async () => {
    let attempts = 0;
    const unavailable = async () => {
      attempts += 1;
      throw new ServiceError('DatabaseError', 'The database is unavailable.');
    };
    const { table: failing } = startBatch(createService({ ...table, batchGet: unavailable }));
    const outcomes = await Promise.allSettled([failing.get(item('a')), failing.get(item('b'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(attempts).toBe(1);
  });
});
