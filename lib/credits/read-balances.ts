import type { Service } from '../foundation/service.ts';
import { type AccountId, findAccount } from './credit-table.ts';
import { toCreditTotals } from './to-records.ts';

/** Returns the balance of each credit of a customer. */
export async function readBalances(service: Service, appName: string, id: AccountId): Promise<Record<string, number>> {
  const totals = toCreditTotals(await findAccount(service, appName, id), service.now());
  return Object.fromEntries(Object.entries(totals).map(([credit, { balance }]) => [credit, balance]));
}
