import type { BenchResult } from './bench-result.ts';
import { measureEventUnits } from './event-units.ts';
import { measureFlowUnits } from './flow-units.ts';
import { type MeteredService, withMeteredService } from './metered-service.ts';
import { sumUsage } from './units/usage.ts';

/**
 * Measures capacity units by the documented rules, from the items that each call reads or writes: of single operations,
 * and of flows with their workers. The `engine` columns are the figures of the table engine, which differ for some
 * operations.
 */
export async function benchTableUnits(): Promise<BenchResult[]> {
  return await withMeteredService(async (metered) => [
    ...(await measureFlowUnits(metered)),
    {
      title: 'Units of single operations without stream workers',
      rows: await measureOperations(metered),
    },
  ]);
}

async function measureOperations({ service, meter }: MeteredService) {
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const api = await import('../lib/customers/contract.ts');
  const { addCustomerPurchase } = await import('../lib/customers/claim-contract.ts');
  const { getCustomerEntitlements } = await import('../lib/entitlements/contract.ts');
  const { getPurchase } = await import('../lib/purchases/contract.ts');
  const keys = await service.createApp(['store_a'], {}, 'com.example.app');
  const secret = buildBasicAuth(keys.appName, keys.secretKey);
  const rows: Record<string, string | number>[] = [];
  const measure = async (operation: string, run: () => Promise<unknown>) => {
    meter.takeCalls();
    await run();
    const { table, indexes, read, engineWrite, engineRead } = sumUsage(meter.takeCalls());
    const write = table + indexes;
    rows.push({ operation, write, table, indexes, read, 'engine write': engineWrite, 'engine read': engineRead });
  };
  const buy = (productId: string, applicationUsername: string, type = 'paid subscription') =>
    service.callControl('/purchases', { platform: 'store_a', productId, type, applicationUsername });
  const user = { applicationUsername: 'ann' };

  await service.validate(keys, (await buy('warm-up', 'warm-up-user')).validate);
  const subscription = await buy('premium', 'ann');
  await measure('validation, new purchase and new user', () => service.validate(keys, subscription.validate));
  await measure('the same receipt again', () => service.validate(keys, subscription.validate));
  const secondPurchase = await buy('coins', 'ann', 'consumable');
  await measure('validation, second purchase of the user', () => service.validate(keys, secondPurchase.validate));
  await service.validate(keys, (await buy('gems', 'ann', 'consumable')).validate);
  await measure('GET customer purchases, 3 purchases', () =>
    callEndpoint(api.getCustomerPurchases, { headers: secret, params: user }),
  );
  await measure('GET customer entitlements, 3 purchases', () =>
    callEndpoint(getCustomerEntitlements, { headers: secret, params: user }),
  );
  await measure('GET customer subscription', () =>
    callEndpoint(api.getCustomerSubscription, { headers: secret, params: user }),
  );
  await measure('GET customer transactions', () =>
    callEndpoint(api.getCustomerTransactions, { headers: secret, params: user }),
  );
  await measure('GET customer', () => callEndpoint(api.getCustomer, { headers: secret, params: user }));
  const purchaseId = `store_a:${subscription.id}`;
  await measure('GET purchase', () => callEndpoint(getPurchase, { headers: secret, params: { purchaseId } }));
  await measure('POST customer purchase (a manual link)', () =>
    callEndpoint(addCustomerPurchase, {
      headers: secret,
      params: { applicationUsername: 'bob' },
      body: { purchaseId },
    }),
  );
  await measure('validation refused, bad receipt', () =>
    service.validate(keys, {
      id: 'com.example.app',
      type: 'application',
      transaction: { type: 'ios-store', appStoreReceipt: 'MII=' },
    }),
  );
  await measureEventUnits(await service.createApp([]), measure);
  return rows;
}
