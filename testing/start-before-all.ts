import { afterAll, beforeAll } from '@jest/globals';

/** What the suite has started, in this order. */
const running: { readonly close?: () => unknown }[] = [];

/**
 * Starts what the tests of a suite share, before them, and closes it after them: the latest first. The result has no
 * members until then.
 */
export function startBeforeAll<Shared extends object>(start: () => Promise<Shared>): Shared {
  const shared = {} as Shared;
  beforeAll(async () => void running.push(Object.assign(shared, await start())));
  afterAll(async () => void (await running.pop()?.close?.()));
  return shared;
}
