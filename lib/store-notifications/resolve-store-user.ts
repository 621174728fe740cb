import type { Service } from '../foundation/service.ts';
import type { Observation } from '../purchases/observation.ts';
import { findUserOfAlias } from '../purchases/user-alias-table.ts';

/** Finds the customer that a store identifies in an observation by a user alias. */
export async function resolveStoreUser(
  service: Service,
  appName: string,
  { userAliases }: Observation,
): Promise<{ readonly storeUser?: string }> {
  for (const alias of userAliases) {
    const storeUser = await findUserOfAlias(service, appName, alias);
    if (storeUser !== undefined) return { storeUser };
  }
  return {};
}
