import type { Aliases } from '../db/aliases.ts';
import type { Observation } from '../purchases/observation.ts';

/** The user whom a store names in an observation, when a form of that name is known; nothing otherwise. */
export async function namedUser(
  app: string,
  { userTokens }: Observation,
  aliases: Pick<Aliases, 'userOf'>,
): Promise<{ readonly named?: string }> {
  for (const token of userTokens) {
    const named = await aliases.userOf(app, token);
    if (named !== undefined) return { named };
  }
  return {};
}
