import type { Observation } from '../purchases/observation.ts';
import type { UserAliasRepository } from '../purchases/user-alias-repository.ts';

/** Finds the customer that a store identifies in an observation by a user alias. */
export async function resolveStoreUser(
  appName: string,
  { userAliases }: Observation,
  aliases: Pick<UserAliasRepository, 'findUser'>,
): Promise<{ readonly storeUser?: string }> {
  for (const alias of userAliases) {
    const storeUser = await aliases.findUser(appName, alias);
    if (storeUser !== undefined) return { storeUser };
  }
  return {};
}
