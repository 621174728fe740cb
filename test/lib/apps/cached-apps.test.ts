import { beforeAll, describe, expect, it } from '@jest/globals';
import { findCachedApp, findRecentApp } from '../../../lib/apps/app-table.ts';
import { appKey } from '../../../lib/foundation/keys.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { secondMs } from '../../../lib/foundation/time.ts';
import { createService } from '../../../testing/create-service.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let storedApp: Item | undefined;
beforeAll(async () => {
  storedApp = await table.get(appKey((await givenApp(table)).appName));
});

/** Creates the service record over one app with the name `known`, whose reads are counted. */
function createCountedService() {
  const state = { now: 0, reads: 0, names: ['known'] };
  const get: Table['get'] = async ({ pk }) => {
    state.reads += 1;
    const name = state.names.find((stored) => appKey(stored).pk === pk);
    return name === undefined ? undefined : { ...storedApp, name };
  };
  return { state, service: createService({ ...table, get }, { now: () => state.now }) };
}

describe('findCachedApp', () => {
  it.each(['known', 'unknown'])('reads a name once: %s', async (name) => {
    const { state, service } = createCountedService();
    await findCachedApp(service, name);
    const found = await findCachedApp(service, name);
    expect([found?.name, state.reads]).toEqual([name === 'known' ? 'known' : undefined, 1]);
  });

  it('finds a new app after 15 seconds', async () => {
    const { state, service } = createCountedService();
    expect(await findCachedApp(service, 'later')).toBeUndefined();
    state.names.push('later');
    state.now += 15 * secondMs;
    expect(await findCachedApp(service, 'later')).toMatchObject({ name: 'later' });
  });

  it.each(['known', 'unknown'])('reads a name again 15 seconds after the start of a slow read: %s', async (name) => {
    const { state, service } = createCountedService();
    const { get } = service.table;
    const slow = { ...service, table: { ...service.table, get: wait } as Table };
    async function wait(...args: Parameters<Table['get']>): ReturnType<Table['get']> {
      const item = await get(...args);
      state.now += 10 * secondMs;
      return item;
    }
    await findCachedApp(slow, name);
    state.now = 15 * secondMs;
    await findCachedApp(slow, name);
    expect(state.reads).toBe(2);
  });

  it.each(['known', 'unknown'])(
    'reads a name again at most once a second for keys it does not have: %s',
    async (name) => {
      const { state, service } = createCountedService();
      const readsAt = async (time: number) => {
        state.now = time;
        for (let key = 0; key < 10; key++) {
          await findCachedApp(service, name);
          await findRecentApp(service, name);
        }
        return state.reads;
      };
      expect([await readsAt(0), await readsAt(999), await readsAt(secondMs), await readsAt(2 * secondMs)]).toEqual([
        1, 1, 2, 3,
      ]);
    },
  );

  it('keeps an app if many unknown names are requested', async () => {
    const { state, service } = createCountedService();
    await findCachedApp(service, 'known');
    for (let number = 0; number < 3_000; number++) await findCachedApp(service, `guess-${number}`);
    const before = state.reads;
    await findCachedApp(service, 'known');
    expect(state.reads).toBe(before);
  });
});
