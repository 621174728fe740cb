import * as v from 'valibot';
import type { PayerRepository } from '../purchases/payer-repository.ts';
import type { Payer } from '../purchases/payment-figures.ts';
import { isConflict, ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import { buildCustomerUpdate } from './purchase-writes.ts';
import type { Table } from './table.ts';

const PayerItem = v.object({ since: v.number(), createdAt: v.number(), firstPurchaseId: v.string() });
const CustomerItem = v.object({ createdAt: v.number() });

export function createPayerRepository(table: Table): PayerRepository {
  return {
    async register(appName, username, { purchaseId, paidAt, now, isGained, isSandbox }) {
      const key = keys.payerKey(appName, username, isSandbox);
      const customerKey = keys.customerKey(appName, username);
      const items = await table.batchGet([key, customerKey]);
      const stored = items.find(({ sk }) => sk === key.sk);
      const customer = items.find(({ sk }) => sk === customerKey.sk);
      const isNewCustomer = customer === undefined && isGained;
      const createdAt = customer ? parse(CustomerItem, customer, 'DatabaseError').createdAt : now;
      const payer = { since: Math.min(createdAt, paidAt), createdAt, firstPurchaseId: purchaseId };
      const [registered] = await Promise.all([
        stored ? parse(PayerItem, stored, 'DatabaseError') : savePayer(table, key, payer),
        isNewCustomer && table.update(buildCustomerUpdate(appName, username, now)),
      ]);
      return { payer: registered, ...((customer || isNewCustomer) && { isNewCustomer }) };
    },
  };
}

/** Returns the payer that is stored: `payer`, or the one of a concurrent call. */
async function savePayer(table: Table, key: keys.Key, payer: Payer): Promise<Payer> {
  try {
    await table.update(buildUpdate(key, { ...payer }, { expression: 'attribute_not_exists(pk)' }));
    return payer;
  } catch (error) {
    if (!isConflict(error)) throw error;
    const winner = await table.get(key);
    if (!winner) throw new ServiceError('Conflict', 'The customer changed concurrently. Try again.');
    return parse(PayerItem, winner, 'DatabaseError');
  }
}
