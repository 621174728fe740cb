import { createHmac } from 'node:crypto';
import { erasureKeyContext, findCachedApp, getOrCreateErasureKey } from '../apps/app-table.ts';
import { createBoundedMap } from '../foundation/cache.ts';
import type { Key } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import type { ClaimRequest } from './claims.ts';
import type { Observation } from './observation.ts';
import { normalizeAlias, toMd5Alias } from './user-aliases.ts';

/* The erased usernames and user aliases of all apps, as digests with a secret key of the app. */

/** Maximum number of decrypted keys in memory. */
const maxKeys = 1_000;
const decryptedKeys = perContainer(() => createBoundedMap<string>(maxKeys));

interface NamingUpdate {
  readonly claim?: Pick<ClaimRequest, 'username'>;
  readonly observation?: Observation;
}

/** Marks the names as erased. Idempotent. */
export async function addErasedNames(service: Service, appName: string, names: readonly string[]): Promise<void> {
  const key = await decryptKey(service, appName, await getOrCreateErasureKey(service, appName));
  const itemKeys = names.map((name) => toItemKey(appName, key, name));
  await service.table.batchPut(
    [...new Map(itemKeys.map((itemKey) => [itemKey.pk, itemKey])).values()].map((k) => ({ ...k })),
  );
}

/** Returns the names that are erased. */
export async function selectErasedNames(
  service: Service,
  appName: string,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const key = await findKey(service, appName);
  if (key === undefined) return [];
  const partitions = new Map(names.map((name) => [name, toItemKey(appName, key, name)]));
  const unique = new Map([...partitions.values()].map((itemKey) => [itemKey.pk, itemKey]));
  const erased = new Set((await service.table.batchGet([...unique.values()])).map(({ pk }) => pk));
  return names.filter((name) => erased.has(partitions.get(name)?.pk));
}

/** Ends the erasure of the names. */
export async function removeErasedNames(service: Service, appName: string, names: readonly string[]): Promise<void> {
  const key = await findKey(service, appName);
  if (key === undefined) return;
  const itemKeys = names.map((name) => toItemKey(appName, key, name));
  await service.table.batchDelete([...new Map(itemKeys.map((itemKey) => [itemKey.pk, itemKey])).values()]);
}

async function decryptKey(service: Service, appName: string, ciphertext: string): Promise<string> {
  const decrypted = decryptedKeys(service);
  const key = decrypted.get(ciphertext) ?? (await service.cipher.decrypt(ciphertext, erasureKeyContext(appName)));
  decrypted.set(ciphertext, key);
  return key;
}

function toItemKey(appName: string, key: string, name: string): Key {
  return keys.erasedNameKey(appName, createHmac('sha256', key).update(normalizeAlias(name)).digest('base64url'));
}

/** Returns undefined if no customer of the app was erased. Then no other reads are needed. */
async function findKey(service: Service, appName: string): Promise<string | undefined> {
  const ciphertext = (await findCachedApp(service, appName))?.erasureKey;
  return ciphertext === undefined ? undefined : await decryptKey(service, appName, ciphertext);
}

/** Lists the names of a customer that are computed from the username. */
export const listComputedNames = (username: string): string[] => [username, toMd5Alias(username)];

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
