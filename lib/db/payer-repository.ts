import * as v from 'valibot';
import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import type { PayerRepository } from '../purchases/payer-repository.ts';
import type { Payer } from '../purchases/payment-figures.ts';
import { isConflict, ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { buildCustomerUpdate, buildPayerUpdate } from './purchase-writes.ts';

const PayerFields = v.object({ since: v.number(), createdAt: v.number(), firstPurchaseId: v.string() });
const CustomerItem = v.object({
  createdAt: v.number(),
  payer: v.exactOptional(PayerFields),
  sandboxPayer: v.exactOptional(PayerFields),
});

export function createPayerRepository(table: Table): PayerRepository {
  const findCustomer = async (appName: string, username: string) => {
    const item = await table.get(keys.customerKey(appName, username));
    return item && parse(CustomerItem, item, 'DatabaseError');
  };
  return {
    async register(appName, username, { purchaseId, paidAt, now, isGained, isSandbox }) {
      const name = isSandbox ? 'sandboxPayer' : 'payer';
      const customer = await findCustomer(appName, username);
      const stored = customer?.[name];
      if (stored) return { payer: stored, hasCustomer: true };
      const createdAt = customer?.createdAt ?? now;
      const payer: Payer = { since: Math.min(createdAt, paidAt), createdAt, firstPurchaseId: purchaseId };
      // A customer who was erased concurrently is not created again.
      if (!customer && !isGained) return { payer, hasCustomer: false };
      try {
        await table.update(
          customer
            ? buildPayerUpdate(appName, username, { name, payer })
            : buildCustomerUpdate(appName, username, now, { name, payer }),
        );
        return { payer, hasCustomer: true };
      } catch (error) {
        if (!isConflict(error)) throw error;
        const winner = (await findCustomer(appName, username))?.[name];
        if (!winner) throw new ServiceError('Conflict', 'The customer changed concurrently. Try again.');
        return { payer: winner, hasCustomer: true };
      }
    },
  };
}
