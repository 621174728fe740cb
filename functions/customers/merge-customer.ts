import { createHandler } from '../../composition/endpoint.ts';
import { purchases } from '../../composition/purchases.ts';
import { erasedNames, recordPurchase } from '../../composition/record-purchase.ts';
import { service } from '../../composition/service.ts';
import { table } from '../../composition/table.ts';
import { mergeCustomer } from '../../lib/api/customers.ts';
import { mergeCustomers } from '../../lib/customer-data/merge-customers.ts';
import { createCustomerDataRepository } from '../../lib/db/customer-data-repository.ts';
import { createMergeRepository } from '../../lib/db/merge-repository.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';

export const handler = createHandler(mergeCustomer, () => ({
  customerData: createCustomerDataRepository(table()),
  erasedNames: erasedNames(),
  ...service(),
  merges: createMergeRepository(table()),
  purchases: purchases(),
  recordPurchase: recordPurchase(),
  userAliases: createUserAliasRepository(table()),
}))(async ({ app, key, params: { applicationUsername }, body: { from } }, deps) => {
  const moved = await mergeCustomers(app, { from, to: applicationUsername, key }, deps);
  return { ok: true, applicationUsername, from, ...moved };
});
