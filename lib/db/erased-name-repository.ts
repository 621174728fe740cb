import { createHmac } from 'node:crypto';
import type { App } from '../apps/app.ts';
import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import type { ErasedNameRepository } from '../purchases/erased-names.ts';
import { normalizeAlias } from '../purchases/user-aliases.ts';
import type { Cipher } from '../shared/cipher.ts';
import { erasureKeyContext } from './app-repository.ts';

interface ErasureKeys {
  /** Returns the app. Its erasure key is absent until a customer of the app is erased. */
  readonly findApp: (appName: string) => Promise<App | undefined>;
  readonly getOrCreateErasureKey: (appName: string) => Promise<string>;
}

/** Maximum number of decrypted keys in memory. */
const maxKeys = 1_000;

export function createErasedNameRepository(
  table: Table,
  cipher: Cipher,
  { findApp, getOrCreateErasureKey }: ErasureKeys,
): ErasedNameRepository {
  const decryptedKeys = new Map<string, string>();
  const decryptKey = async (appName: string, ciphertext: string): Promise<string> => {
    const key = decryptedKeys.get(ciphertext) ?? (await cipher.decrypt(ciphertext, erasureKeyContext(appName)));
    if (decryptedKeys.size >= maxKeys) decryptedKeys.clear();
    decryptedKeys.set(ciphertext, key);
    return key;
  };
  const toItemKey = (appName: string, key: string, name: string): keys.Key =>
    keys.erasedNameKey(appName, createHmac('sha256', key).update(normalizeAlias(name)).digest('base64url'));
  /** Returns undefined if no customer of the app was erased. Such an app needs no other reads. */
  const findKey = async (appName: string): Promise<string | undefined> => {
    const ciphertext = (await findApp(appName))?.erasureKey;
    return ciphertext === undefined ? undefined : await decryptKey(appName, ciphertext);
  };
  return {
    async add(appName, names) {
      const key = await decryptKey(appName, await getOrCreateErasureKey(appName));
      const itemKeys = names.map((name) => toItemKey(appName, key, name));
      await table.batchPut(
        [...new Map(itemKeys.map((itemKey) => [itemKey.pk, itemKey])).values()].map((k) => ({ ...k })),
      );
    },
    async select(appName, names) {
      if (names.length === 0) return [];
      const key = await findKey(appName);
      if (key === undefined) return [];
      const partitions = new Map(names.map((name) => [name, toItemKey(appName, key, name)]));
      const unique = new Map([...partitions.values()].map((itemKey) => [itemKey.pk, itemKey]));
      const erased = new Set((await table.batchGet([...unique.values()])).map(({ pk }) => pk));
      return names.filter((name) => erased.has(partitions.get(name)?.pk));
    },
    async remove(appName, names) {
      const key = await findKey(appName);
      if (key === undefined) return;
      const itemKeys = names.map((name) => toItemKey(appName, key, name));
      await table.batchDelete([...new Map(itemKeys.map((itemKey) => [itemKey.pk, itemKey])).values()]);
    },
  };
}
