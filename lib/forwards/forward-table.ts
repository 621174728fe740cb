import { cacheRead } from '../apps/app-table.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { type Forward, Forwards } from './forward.ts';

/** Returns the forwards of store notifications. Undefined if none were set. */
export async function findForwards({ table }: Service, appName: string): Promise<readonly Forward[] | undefined> {
  const item = await table.get(keys.forwardsKey(appName));
  return item && parse(Forwards, item.forwards, 'DatabaseError');
}

/** Finds the forwards fast enough for every notification. */
export const findCachedForwards = cacheRead(
  async (service, appName: string): Promise<readonly Forward[]> => (await findForwards(service, appName)) ?? [],
);

/** Replaces the forwards of store notifications. */
export async function storeForwards({ table }: Service, appName: string, forwards: readonly Forward[]): Promise<void> {
  await table.batchPut([{ ...keys.forwardsKey(appName), forwards: [...forwards] }]);
}
