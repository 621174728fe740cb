import type {
  changeGrant,
  createGrant,
  explainAccess,
  getCustomerEntitlements,
  listGrants,
  revokeGrant,
} from '../../../lib/entitlements/contract.ts';
import { defineEndpoint } from '../../api/client.ts';

/** Endpoints of entitlements and grants. */
export const entitlementEndpoints = {
  getCustomerEntitlements: defineEndpoint<typeof getCustomerEntitlements>(
    'GET',
    '/v3/customers/:applicationUsername/entitlements',
  ),
  explainAccess: defineEndpoint<typeof explainAccess>('GET', '/v3/customers/:applicationUsername/why'),
  listGrants: defineEndpoint<typeof listGrants>('GET', '/v3/customers/:applicationUsername/grants'),
  createGrant: defineEndpoint<typeof createGrant>('POST', '/v3/customers/:applicationUsername/grants'),
  changeGrant: defineEndpoint<typeof changeGrant>('PATCH', '/v3/customers/:applicationUsername/grants/:grantId'),
  revokeGrant: defineEndpoint<typeof revokeGrant>('DELETE', '/v3/customers/:applicationUsername/grants/:grantId'),
};
