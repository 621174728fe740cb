import type { UserAliasRepository } from '../db/user-alias-repository.ts';
import type { Observation } from '../purchases/observation.ts';

/** The user whom a store names in an observation, when a form of that name is known; nothing otherwise. */
export async function resolveStoreUser(
  appName: string,
  { userAliases }: Observation,
  aliases: Pick<UserAliasRepository, 'findUser'>,
): Promise<{ readonly storeUser?: string }> {
  for (const token of userAliases) {
    const storeUser = await aliases.findUser(appName, token);
    if (storeUser !== undefined) return { storeUser };
  }
  return {};
}
