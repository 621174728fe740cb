import type { Service } from '../foundation/service.ts';
import type { ClaimRequest } from './claims.ts';
import { removeErasedNames, selectErasedNames } from './erased-name-table.ts';
import type { Observation } from './observation.ts';
import { normalizeAlias, toMd5Alias } from './user-aliases.ts';

/** Lists the names of a customer that are computed from the username. */
export const listComputedNames = (username: string): string[] => [username, toMd5Alias(username)];

interface NamingUpdate {
  readonly claim?: Pick<ClaimRequest, 'username'>;
  readonly observation?: Observation;
}

/** Removes erased names from the observation of an update. A claim for an erased username ends the erasure. */
export async function omitErasedNames<T extends NamingUpdate>(service: Service, appName: string, input: T): Promise<T> {
  const { claim, observation } = input;
  const ownNames = claim ? listComputedNames(claim.username) : [];
  const erased = await selectErasedNames(service, appName, [...ownNames, ...listNames(observation)]);
  if (erased.length === 0) return input;
  if (erased.some((name) => ownNames.includes(name))) await removeErasedNames(service, appName, ownNames);
  const omitted = new Set(erased.map(normalizeAlias).filter((name) => !ownNames.map(normalizeAlias).includes(name)));
  return { ...input, ...(observation && { observation: omitNames(observation, omitted) }) };
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
