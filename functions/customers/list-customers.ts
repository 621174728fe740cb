import { listCustomers } from '../../lib/customers/contract.ts';
import { listCustomerSummaries } from '../../lib/entitlements/list-customers.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(listCustomers)(
  async ({ app, query }, service) => await listCustomerSummaries(service, app, query),
);
