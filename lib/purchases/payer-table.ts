import * as v from 'valibot';
import { isConflict, ServiceError } from '../foundation/errors.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Payer } from './payment-figures.ts';
import { buildCustomerUpdate, buildPayerUpdate } from './purchase-writes.ts';

/** A payment of a purchase, which can be the first one of its customer. */
interface FirstPayment {
  readonly purchaseId: string;
  readonly paidAt: EpochMillis;
  readonly now: EpochMillis;
  /** Whether the purchase gains the customer, who is created if there is none. */
  readonly isGained: boolean;
  /** Sandbox and production have a first payment each. */
  readonly isSandbox: boolean;
}

interface RegisteredPayer {
  readonly payer: Payer;
  /** Whether there is a customer, found or created. */
  readonly hasCustomer: boolean;
}

const PayerFields = v.object({ since: v.number(), createdAt: v.number(), firstPurchaseId: v.string() });
const CustomerItem = v.object({
  createdAt: v.number(),
  payer: v.exactOptional(PayerFields),
  sandboxPayer: v.exactOptional(PayerFields),
});

/**
 * Returns the customer as a payer. Stores the purchase as the first one unless another one is stored, and creates the
 * customer. Idempotent; of concurrent calls, one purchase is the first.
 */
export async function registerPayer(
  service: Service,
  appName: string,
  username: string,
  { purchaseId, paidAt, now, isGained, isSandbox }: FirstPayment,
): Promise<RegisteredPayer> {
  const name = isSandbox ? 'sandboxPayer' : 'payer';
  const customer = await findCustomer(service, appName, username);
  const stored = customer?.[name];
  if (stored) return { payer: stored, hasCustomer: true };
  const createdAt = customer?.createdAt ?? now;
  const payer: Payer = { since: Math.min(createdAt, paidAt), createdAt, firstPurchaseId: purchaseId };
  // A customer who was erased concurrently is not created again.
  if (!customer && !isGained) return { payer, hasCustomer: false };
  try {
    await service.table.update(
      customer
        ? buildPayerUpdate(appName, username, { name, payer })
        : buildCustomerUpdate(appName, username, now, { name, payer }),
    );
    return { payer, hasCustomer: true };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const winner = (await findCustomer(service, appName, username))?.[name];
    if (!winner) throw new ServiceError('Conflict', 'The customer changed concurrently. Try again.');
    return { payer: winner, hasCustomer: true };
  }
}

async function findCustomer({ table }: Service, appName: string, username: string) {
  const item = await table.get(keys.customerKey(appName, username));
  return item && parse(CustomerItem, item, 'DatabaseError');
}
