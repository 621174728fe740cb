import type { BenchResult } from './bench-result.ts';
import { measureEventUnits } from './event-units.ts';
import { measureFlowUnits } from './flow-units.ts';
import { type MeteredService, withMeteredService } from './metered-service.ts';
import { sumUsage } from './units/usage.ts';

/**
 * Capacity units by the rules of AWS's documentation, worked out from the items that each call meets: of operations by
 * themselves, and of flows with what the workers write for them. DynamoDB Local's own figures stand beside them: those
 * of transactions are mostly too high, and a query that finds nothing is free there.
 */
export async function benchTableUnits(): Promise<BenchResult[]> {
  return await withMeteredService(async (metered) => [
    ...(await measureFlowUnits(metered)),
    {
      title: 'Units of an operation, without what it does later through the stream',
      rows: await measureOperations(metered),
    },
  ]);
}

async function measureOperations({ service, meter }: MeteredService) {
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const api = await import('../lib/api/customers.ts');
  const { getPurchase } = await import('../lib/api/purchases.ts');
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

  await service.validate(keys, (await buy('warm-up', 'someone')).validate);
  const first = await buy('premium', 'ann');
  await measure('validation, new purchase and new user', () => service.validate(keys, first.validate));
  await measure('the same receipt again', () => service.validate(keys, first.validate));
  const { validate: more } = await buy('coins', 'ann', 'consumable');
  await measure('validation, second purchase of the user', () => service.validate(keys, more));
  await service.validate(keys, (await buy('gems', 'ann', 'consumable')).validate);
  await measure('GET customer purchases, 3 purchases', () =>
    callEndpoint(api.getCustomerPurchases, { headers: secret, params: user }),
  );
  await measure('GET customer subscription', () =>
    callEndpoint(api.getCustomerSubscription, { headers: secret, params: user }),
  );
  await measure('GET customer transactions', () =>
    callEndpoint(api.getCustomerTransactions, { headers: secret, params: user }),
  );
  await measure('GET customer', () => callEndpoint(api.getCustomer, { headers: secret, params: user }));
  const purchaseId = `store_a:${first.id}`;
  await measure('GET purchase', () => callEndpoint(getPurchase, { headers: secret, params: { purchaseId } }));
  await measure('POST customer purchase (a manual link)', () =>
    callEndpoint(api.addCustomerPurchase, {
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
