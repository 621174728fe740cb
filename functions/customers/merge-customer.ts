import { mergeCustomer } from '../../lib/api/customers.ts';
import { mergeCustomers } from '../../lib/customer-data/merge-customers.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(mergeCustomer)(
  async ({ app, key, params: { applicationUsername }, body: { from } }, service) => {
    const moved = await mergeCustomers(service, app, { from, to: applicationUsername, key });
    return { ok: true, applicationUsername, from, ...moved };
  },
);
