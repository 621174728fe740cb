import * as v from 'valibot';
import type { PayerRepository } from '../purchases/payer-repository.ts';
import { isConflict, ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { buildUpdate } from './build-update.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

const PayerItem = v.object({ since: v.number(), createdAt: v.number(), firstPurchaseId: v.string() });
const CustomerItem = v.object({ createdAt: v.number() });

export function createPayerRepository(table: Table): PayerRepository {
  return {
    async register(appName, username, { purchaseId, paidAt, now }) {
      const key = keys.payerKey(appName, username);
      const customerKey = keys.customerKey(appName, username);
      const items = await table.batchGet([key, customerKey]);
      const stored = items.find(({ sk }) => sk === key.sk);
      if (stored) return parse(PayerItem, stored, 'DatabaseError');
      const customer = items.find(({ sk }) => sk === customerKey.sk);
      const createdAt = customer ? parse(CustomerItem, customer, 'DatabaseError').createdAt : now;
      const payer = { since: Math.min(createdAt, paidAt), createdAt, firstPurchaseId: purchaseId };
      try {
        await table.update(buildUpdate(key, payer, { expression: 'attribute_not_exists(pk)' }));
        return payer;
      } catch (error) {
        if (!isConflict(error)) throw error;
        const winner = await table.get(key);
        if (!winner) throw new ServiceError('Conflict', 'The customer changed concurrently. Try again.');
        return parse(PayerItem, winner, 'DatabaseError');
      }
    },
  };
}
