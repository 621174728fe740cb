import { describe, expect, it } from '@jest/globals';
import type { App } from '../../../lib/apps/app.ts';
import { createAppCache } from '../../../lib/apps/app-cache.ts';
import { secondMs } from '../../../lib/shared/time.ts';

/** Creates a cache over one app with the name `known`, which counts the reads. */
function createCountedCache() {
  const state = { now: 0, reads: 0, names: ['known'] };
  const find = async (name: string) => {
    state.reads += 1;
    return state.names.includes(name) ? ({ name } as App) : undefined;
  };
  const reader = {
    find,
    findKeyOwner: async () => undefined,
    findForwards: async () => undefined,
    findStoreSettings: async () => undefined,
    findCatalogue: async () => undefined,
  };
  return { state, cache: createAppCache(reader, () => state.now) };
}

describe('createAppCache', () => {
  it.each(['known', 'unknown'])('reads a name once: %s', async (name) => {
    const { state, cache } = createCountedCache();
    await cache.find(name);
    const found = await cache.find(name);
    expect([found?.name, state.reads]).toEqual([name === 'known' ? 'known' : undefined, 1]);
  });

  it('finds a new app after 15 seconds', async () => {
    const { state, cache } = createCountedCache();
    expect(await cache.find('later')).toBeUndefined();
    state.names.push('later');
    state.now += 15 * secondMs;
    expect(await cache.find('later')).toMatchObject({ name: 'later' });
  });

  it.each(['known', 'unknown'])(
    'reads a name again at most once a second for keys it does not have: %s',
    async (name) => {
      const { state, cache } = createCountedCache();
      const readsAt = async (time: number) => {
        state.now = time;
        for (let key = 0; key < 10; key++) {
          await cache.find(name);
          await cache.findRecent(name);
        }
        return state.reads;
      };
      expect([await readsAt(0), await readsAt(999), await readsAt(secondMs), await readsAt(2 * secondMs)]).toEqual([
        1, 1, 2, 3,
      ]);
    },
  );

  it('keeps an app if many unknown names are requested', async () => {
    const { state, cache } = createCountedCache();
    await cache.find('known');
    for (let number = 0; number < 3_000; number++) await cache.find(`guess-${number}`);
    const before = state.reads;
    await cache.find('known');
    expect(state.reads).toBe(before);
  });
});
