import { startDynamoDbLocal } from '../local/dynamodb-local.ts';
import type { BenchTable } from './bench-table.ts';
import { measureEvents } from './event-units.ts';

/**
 * Capacity units that each operation uses in the table, as DynamoDB Local counts them, indexes included: the real handlers
 * on the real table engine, asking the emulated App Store. What an operation does later through the stream is not in it.
 */
export async function benchTableUnits(): Promise<BenchTable> {
  const engine = await startDynamoDbLocal();
  process.env.DYNAMODB_ENDPOINT = engine.endpoint;
  const { startTestService } = await import('../test/support/service.ts');
  const service = await startTestService();
  try {
    return { title: 'Capacity units of an operation (write, read)', rows: await operations(service) };
  } finally {
    await service.close();
    await engine.close();
  }
}

type Service = Awaited<ReturnType<typeof import('../test/support/service.ts').startTestService>>;

async function operations(service: Service) {
  const { basic, call } = await import('../test/support/call.ts');
  const api = await import('../lib/api/customers.ts');
  const { getPurchase } = await import('../lib/api/purchases.ts');
  const { deps } = await import('../lib/deps.ts');
  const keys = await service.app(['store_a'], {}, 'com.example.app');
  const secret = basic(keys.app, keys.secretKey);
  const rows: Record<string, string | number>[] = [];
  const measure = async (operation: string, run: () => Promise<unknown>) => {
    const { consumed } = deps().table;
    const before = { ...consumed };
    await run();
    rows.push({ operation, write: consumed.write - before.write, read: consumed.read - before.read });
  };
  const buy = (productId: string, applicationUsername: string, type = 'paid subscription') =>
    service.control('/purchases', { platform: 'store_a', productId, type, applicationUsername });
  const user = { applicationUsername: 'ann' };

  await service.validate(keys, (await buy('warm-up', 'someone')).validate);
  const first = await buy('premium', 'ann');
  await measure('validation, new purchase and new user', () => service.validate(keys, first.validate));
  await measure('the same receipt again', () => service.validate(keys, first.validate));
  const { validate: more } = await buy('coins', 'ann', 'consumable');
  await measure('validation, second purchase of the user', () => service.validate(keys, more));
  await service.validate(keys, (await buy('gems', 'ann', 'consumable')).validate);
  await measure('GET customer purchases, 3 purchases', () =>
    call(api.getCustomerPurchases, { headers: secret, params: user }),
  );
  await measure('GET customer subscription', () =>
    call(api.getCustomerSubscription, { headers: secret, params: user }),
  );
  await measure('GET customer transactions', () =>
    call(api.getCustomerTransactions, { headers: secret, params: user }),
  );
  await measure('GET customer', () => call(api.getCustomer, { headers: secret, params: user }));
  const purchaseId = `store_a:${first.id}`;
  await measure('GET purchase', () => call(getPurchase, { headers: secret, params: { purchaseId } }));
  await measure('POST customer purchase (a manual link)', () =>
    call(api.addCustomerPurchase, { headers: secret, params: { applicationUsername: 'bob' }, body: { purchaseId } }),
  );
  await measure('validation refused, bad receipt', () =>
    service.validate(keys, {
      id: 'com.example.app',
      type: 'application',
      transaction: { type: 'ios-store', appStoreReceipt: 'MII=' },
    }),
  );
  await measureEvents(await service.app([]), measure);
  return rows;
}
