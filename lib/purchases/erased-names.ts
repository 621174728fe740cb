import type { Observation } from './observation.ts';
import type { RecordPurchase } from './record-purchase.ts';
import { normalizeAlias, toMd5Alias } from './user-aliases.ts';

/** The usernames and user aliases that were erased: the port that `lib/db` implements. */
export interface ErasedNames {
  /** Returns the names that are erased. */
  select(appName: string, names: readonly string[]): Promise<readonly string[]>;
  /** Ends the erasure of the names. */
  remove(appName: string, names: readonly string[]): Promise<void>;
}

/** Lists the names of a customer that are computed from the username. */
export const listComputedNames = (username: string): string[] => [username, toMd5Alias(username)];

/**
 * Wraps `recordPurchase`, so that no observation brings an erased name back: a store repeats the user aliases of a
 * purchase for years. A client that claims a purchase for an erased username ends the erasure, because the customer has
 * returned.
 */
export function omitErasedNames(recordPurchase: RecordPurchase, erasedNames: ErasedNames): RecordPurchase {
  return async (appName, purchaseId, input) => {
    const { claim, observation } = input;
    const ownNames = claim ? listComputedNames(claim.username) : [];
    const erased = await erasedNames.select(appName, [...ownNames, ...listNames(observation)]);
    if (erased.length === 0) return await recordPurchase(appName, purchaseId, input);
    if (erased.some((name) => ownNames.includes(name))) await erasedNames.remove(appName, ownNames);
    const omitted = new Set(erased.map(normalizeAlias).filter((name) => !ownNames.map(normalizeAlias).includes(name)));
    return await recordPurchase(appName, purchaseId, {
      ...input,
      ...(observation && { observation: omitNames(observation, omitted) }),
    });
  };
}

const listNames = (observation: Observation | undefined): string[] => [
  ...(observation?.userAliases ?? []),
  ...(observation?.checkoutUsername === undefined ? [] : [observation.checkoutUsername]),
];

function omitNames({ checkoutUsername, ...observation }: Observation, omitted: ReadonlySet<string>): Observation {
  const isKept = (name: string): boolean => !omitted.has(normalizeAlias(name));
  return {
    ...observation,
    userAliases: observation.userAliases.filter(isKept),
    ...(checkoutUsername !== undefined && isKept(checkoutUsername) && { checkoutUsername }),
  };
}

/** The erased usernames and user aliases of all apps, as digests with a secret key of the app. */
export interface ErasedNameRepository extends ErasedNames {
  /** Marks the names as erased. Idempotent. */
  add(appName: string, names: readonly string[]): Promise<void>;
}
