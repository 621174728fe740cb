import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { VaultReferenceRepository } from '../customers/vault-reference-repository.ts';
import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { isConflict } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';

const ReferenceItem = v.object({ customerId: v.string(), reference: v.string() });

export function createVaultReferenceRepository(table: Table): VaultReferenceRepository {
  const find = async (key: keys.Key) => {
    const item = await table.get(key);
    return item && parse(ReferenceItem, item, 'DatabaseError');
  };
  const create = async (appName: string, customerId: string): Promise<string> => {
    const item = { customerId, reference: randomBytes(16).toString('hex') };
    await table.transact(
      [keys.vaultCustomerKey(appName, customerId), keys.vaultReferenceKey(appName, item.reference)].map((key) => ({
        Put: {
          TableName: table.name,
          Item: { ...key, ...item },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      })),
    );
    return item.reference;
  };
  return {
    async getOrCreate(appName, customerId) {
      const key = keys.vaultCustomerKey(appName, customerId);
      const existing = await find(key);
      if (existing) return existing.reference;
      return await create(appName, customerId).catch(async (error: unknown) => {
        // A concurrent request has created it.
        const created = isConflict(error) ? await find(key) : undefined;
        if (created) return created.reference;
        throw error;
      });
    },
    findReference: async (appName, customerId) => (await find(keys.vaultCustomerKey(appName, customerId)))?.reference,
    async delete(appName, customerId) {
      const key = keys.vaultCustomerKey(appName, customerId);
      const existing = await find(key);
      if (!existing) return false;
      // In one transaction: the reference could not be found without the item of the customer.
      await table.transact(
        [key, keys.vaultReferenceKey(appName, existing.reference)].map((Key) => ({
          Delete: { TableName: table.name, Key: { ...Key } },
        })),
      );
      return true;
    },
    findCustomerId: async (appName, reference) => (await find(keys.vaultReferenceKey(appName, reference)))?.customerId,
  };
}
