import { mergeCustomers } from '../../lib/customer-data/merge-customers.ts';
import { mergeCustomer } from '../../lib/customers/claim-contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(mergeCustomer)(
  async ({ app, key, params: { applicationUsername }, body: { from } }, service) => {
    const moved = await mergeCustomers(service, app, { from, to: applicationUsername, key });
    return { ok: true, applicationUsername, from, ...moved };
  },
);
