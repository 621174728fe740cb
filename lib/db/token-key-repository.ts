import * as v from 'valibot';
import { TokenKey, type TokenKeyRepository, type TokenKeySet } from '../entitlements/token-key-repository.ts';
import * as keys from '../foundation/keys.ts';
import { reencryptField } from '../foundation/reencrypt-field.ts';
import type { Item, Table } from '../foundation/table.ts';
import { tryWrite } from '../foundation/try-update.ts';
import type { Cipher } from '../shared/cipher.ts';
import { parse, parseJson } from '../shared/parse.ts';
import { retryUntilWritten } from '../shared/retry.ts';

const TokenKeysItem = v.object({ keys: v.array(TokenKey), privateKeys: v.string(), version: v.number() });
const PrivateKeys = v.record(v.string(), v.string());

/** The private keys are one encrypted attribute. */
export function createTokenKeyRepository(table: Table, cipher: Cipher): TokenKeyRepository {
  const read = async (item: Item, appName: string): Promise<TokenKeySet> => {
    const stored = parse(TokenKeysItem, item, 'DatabaseError');
    const text = await cipher.decrypt(stored.privateKeys, toContext(appName));
    return { keys: stored.keys, privateKeys: parseJson(PrivateKeys, text, 'DatabaseError') };
  };
  /** Returns undefined if another writer interferes. */
  const save = async (appName: string, set: TokenKeySet, before: Item | undefined) => {
    const version = Number(before?.version ?? 0);
    const Item = {
      ...keys.tokenKeysKey(appName),
      ...keys.tokenKeysIndexKeys(appName),
      keys: set.keys,
      privateKeys: await cipher.encrypt(JSON.stringify(set.privateKeys), toContext(appName)),
      version: version + 1,
    };
    const condition = before
      ? { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': version } }
      : { ConditionExpression: 'attribute_not_exists(pk)' };
    const isWritten = await tryWrite(
      async () => await table.transact([{ Put: { TableName: table.name, Item, ...condition } }]),
    );
    return isWritten ? set : undefined;
  };
  return {
    getOrCreate: async (appName, create) =>
      await retryUntilWritten(async () => {
        const item = await table.get(keys.tokenKeysKey(appName));
        return item ? await read(item, appName) : await save(appName, create(), undefined);
      }),
    update: async (appName, change) =>
      await retryUntilWritten(async () => {
        const item = await table.get(keys.tokenKeysKey(appName));
        const before = item && (await read(item, appName));
        return await save(appName, change(before), item);
      }),
    async listPublicKeys(appName) {
      const entries =
        appName === undefined
          ? await table.query({ partition: keys.tokenKeysPartition, index: 'byCreated' })
          : [keys.tokenKeysKey(appName)];
      const items = await table.batchGet(entries.map(({ pk, sk }) => keys.toKey({ pk, sk })));
      return items.flatMap((item) => parse(TokenKeysItem, item, 'DatabaseError').keys);
    },
    async reencrypt(appName) {
      const item = (await table.get(keys.tokenKeysKey(appName))) ?? {};
      return await reencryptField(table, cipher, { item, field: 'privateKeys', context: toContext(appName) });
    },
  };
}

const toContext = (appName: string): string => `${appName}/token-keys`;
