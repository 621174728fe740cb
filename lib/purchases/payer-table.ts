import * as v from 'valibot';
import { isConflict, ServiceError } from '../foundation/errors.ts';
import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import type { Payer } from './payment-figures.ts';
import { buildPayerUpdate, createCustomer } from './purchase-writes.ts';

/** A payment of a purchase, which can be the first one of its customer. */
interface FirstPayment {
  readonly purchaseId: string;
  readonly paidAt: EpochMillis;
  readonly now: EpochMillis;
  /** The purchase gains the customer, who is created if missing. */
  readonly isGained: boolean;
  /** Sandbox and production have a first payment each. */
  readonly isSandbox: boolean;
}

interface RegisteredPayer {
  readonly payer: Payer;
  /** Found or created. */
  readonly hasCustomer: boolean;
}

const PayerFields = v.object({ since: v.number(), createdAt: v.number(), firstPurchaseId: v.string() });
const CustomerItem = v.object({
  createdAt: v.number(),
  payer: v.exactOptional(PayerFields),
  sandboxPayer: v.exactOptional(PayerFields),
});

/** Sort keys of the first payments that version 2 of the table stores as items of the customer. */
const earlierSortKeys = { payer: 'F', sandboxPayer: 'FX' } as const;
type PayerName = keyof typeof earlierSortKeys;

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
  const { customer, stored } = await findPayer(service, appName, username, name);
  if (stored) return { payer: stored, hasCustomer: true };
  const createdAt = customer?.createdAt ?? now;
  const payer: Payer = { since: Math.min(createdAt, paidAt), createdAt, firstPurchaseId: purchaseId };
  // A customer who was erased concurrently is not created again.
  if (!customer && !isGained) return { payer, hasCustomer: false };
  try {
    const first = { name, payer } as const;
    if (customer) await service.table.update(buildPayerUpdate(appName, username, first));
    else await createCustomer(service.table, appName, username, { now, first });
    return { payer, hasCustomer: true };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const { stored: winner } = await findPayer(service, appName, username, name);
    if (!winner) throw new ServiceError('Conflict', 'The customer changed concurrently. Try again.');
    return { payer: winner, hasCustomer: true };
  }
}

/** The item of version 2 takes precedence: it is the earlier one. */
async function findPayer({ table }: Service, appName: string, username: string, name: PayerName) {
  const key = keys.customerKey(appName, username);
  const items = await table.batchGet([key, { pk: key.pk, sk: earlierSortKeys[name] }]);
  const [item, earlier] = [items.find(({ sk }) => sk === key.sk), items.find(({ sk }) => sk !== key.sk)];
  const customer = item && parse(CustomerItem, item, 'DatabaseError');
  return { customer, stored: earlier ? parse(PayerFields, earlier, 'DatabaseError') : customer?.[name] };
}

/** Sort keys of the first payments and the rankings of products of version 2. Grants are between them. */
const earlierRange = ['F', 'H$'] as const;

/**
 * Moves the first payments of a customer from the items of version 2 to the customer item, and deletes the rankings of
 * products. Returns whether there were any. Idempotent.
 */
export async function moveEarlierPayers({ table }: Service, appName: string, username: string): Promise<boolean> {
  const key = keys.customerKey(appName, username);
  const items = await table.query({ partition: key.pk, between: earlierRange });
  const payers = (Object.keys(earlierSortKeys) as PayerName[]).flatMap((name) => {
    const earlier = items.find(({ sk }) => sk === earlierSortKeys[name]);
    return earlier ? [[name, parse(PayerFields, earlier, 'DatabaseError')] as const] : [];
  });
  if (payers.length > 0)
    await tryUpdate(table, buildUpdate(key, Object.fromEntries(payers), { expression: 'attribute_exists(pk)' }));
  const moved = items.filter(({ sk }) => /^(FX?$|H#)/.test(String(sk)));
  await table.batchDelete(moved.map(toKey));
  return moved.length > 0;
}
