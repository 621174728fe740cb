import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { isConflict } from '../foundation/errors.ts';
import type { Key } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';

const ReferenceItem = v.object({ customerId: v.string(), reference: v.string() });

/** Returns the reference of a customer of the vault. Creates it at the first call. */
export async function getOrCreateVaultReference(
  service: Service,
  appName: string,
  customerId: string,
): Promise<string> {
  const key = keys.vaultCustomerKey(appName, customerId);
  const existing = await find(service, key);
  if (existing) return existing.reference;
  return await create(service, appName, customerId).catch(async (error: unknown) => {
    // A concurrent request has created it.
    const created = isConflict(error) ? await find(service, key) : undefined;
    if (created) return created.reference;
    throw error;
  });
}

/** Returns the reference of a customer of the vault. Undefined without one. */
export async function findVaultReference(
  service: Service,
  appName: string,
  customerId: string,
): Promise<string | undefined> {
  return (await find(service, keys.vaultCustomerKey(appName, customerId)))?.reference;
}

/** Deletes the reference of a customer of the vault. Returns whether there was one. */
export async function deleteVaultReference(service: Service, appName: string, customerId: string): Promise<boolean> {
  const key = keys.vaultCustomerKey(appName, customerId);
  const existing = await find(service, key);
  if (!existing) return false;
  // In one transaction: the reference could not be found without the item of the customer.
  await service.table.transact(
    [key, keys.vaultReferenceKey(appName, existing.reference)].map((Key) => ({
      Delete: { TableName: service.table.name, Key: { ...Key } },
    })),
  );
  return true;
}

/** Returns the customer of a reference. Undefined if this app has not created the reference. */
export async function findVaultCustomerId(
  service: Service,
  appName: string,
  reference: string,
): Promise<string | undefined> {
  return (await find(service, keys.vaultReferenceKey(appName, reference)))?.customerId;
}

async function find({ table }: Service, key: Key) {
  const item = await table.get(key);
  return item && parse(ReferenceItem, item, 'DatabaseError');
}

async function create({ table }: Service, appName: string, customerId: string): Promise<string> {
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
}
