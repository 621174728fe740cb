import * as v from 'valibot';
import { attemptItems } from '../foundation/failed-items.ts';
import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse, parseJson } from '../foundation/parse.ts';
import { type Reencryption, reencryptField } from '../foundation/reencrypt-field.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { buildVersionCondition, retryUntilWritten, tryWrite } from '../foundation/updates.ts';
import { TokenKey, type TokenKeySet } from './token-key.ts';

/** The private keys are one encrypted attribute. */
const TokenKeysItem = v.object({ keys: v.array(TokenKey), privateKeys: v.string(), version: v.number() });
const PrivateKeys = v.record(v.string(), v.string());

/** Returns the keys of the app. Saves what `create` returns if they are missing. */
export const getOrCreateTokenKeys = async (
  service: Service,
  appName: string,
  create: () => TokenKeySet,
): Promise<TokenKeySet> =>
  await retryUntilWritten(async () => {
    const item = await service.table.get(keys.tokenKeysKey(appName));
    return item ? await readItem(service, appName, item) : await save(service, appName, create(), undefined);
  });

/** Replaces the keys with what `change` returns. Calls it again if another writer interferes. */
export const updateTokenKeys = async (
  service: Service,
  appName: string,
  change: (stored: TokenKeySet | undefined) => TokenKeySet,
): Promise<TokenKeySet> =>
  await retryUntilWritten(async () => {
    const item = await service.table.get(keys.tokenKeysKey(appName));
    const before = item && (await readItem(service, appName, item));
    return await save(service, appName, change(before), item);
  });

/** Lists the public keys of one app, or of all apps. */
export async function listPublicTokenKeys({ table }: Service, appName: string | undefined): Promise<TokenKey[]> {
  const entries =
    appName === undefined
      ? await table.query({ partition: keys.tokenKeysIndexKeys.partition(), index: 'byCreated' })
      : [keys.tokenKeysKey(appName)];
  const items = await table.batchGet(entries.map(({ pk, sk }) => toKey({ pk, sk })));
  return items.flatMap((item) => parse(TokenKeysItem, item, 'DatabaseError').keys);
}

/** Encrypts the private keys, which are one value, under the current master key. */
export async function reencryptTokenKeys({ table, cipher }: Service, appName: string): Promise<Reencryption> {
  const item = (await table.get(keys.tokenKeysKey(appName))) ?? {};
  const { attempt, failed } = attemptItems({ worker: 'reencrypt', app: appName });
  const field = { item, field: 'privateKeys', context: toContext(appName) };
  const wasStale = await attempt(toContext(appName), async () => await reencryptField(table, cipher, field));
  return { reencrypted: wasStale ? 1 : 0, failed };
}

const toContext = (appName: string): string => `${appName}/token-keys`;

async function readItem({ cipher }: Service, appName: string, item: Item): Promise<TokenKeySet> {
  const stored = parse(TokenKeysItem, item, 'DatabaseError');
  const text = await cipher.decrypt(stored.privateKeys, toContext(appName));
  return { keys: stored.keys, privateKeys: parseJson(PrivateKeys, text, 'DatabaseError') };
}

/** Returns undefined if another writer interferes. */
async function save(
  { table, cipher }: Service,
  appName: string,
  set: TokenKeySet,
  before: Item | undefined,
): Promise<TokenKeySet | undefined> {
  const version = Number(before?.version ?? 0);
  const Item = {
    ...keys.tokenKeysKey(appName),
    ...keys.tokenKeysIndexKeys(appName),
    keys: set.keys,
    privateKeys: await cipher.encrypt(JSON.stringify(set.privateKeys), toContext(appName)),
    version: version + 1,
  };
  const put = { TableName: table.name, Item, ...buildVersionCondition(version) };
  return (await tryWrite(async () => await table.transact([{ Put: put }]))) ? set : undefined;
}
