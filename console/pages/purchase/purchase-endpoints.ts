import type { actOnPurchase, listPurchaseActions } from '../../../lib/actions/contract.ts';
import type { addCustomerPurchase, getCustomerClaims } from '../../../lib/customers/claim-contract.ts';
import type { getCustomerTimeline, getCustomerTransactions } from '../../../lib/customers/contract.ts';
import type {
  getPurchase,
  getPurchaseOwners,
  listPurchases,
  refreshPurchase,
} from '../../../lib/purchases/contract.ts';
import type { getPurchaseTimeline } from '../../../lib/purchases/timeline-contract.ts';
import type { listTransactions } from '../../../lib/purchases/transaction-contract.ts';
import type { search } from '../../../lib/search/contract.ts';
import { defineEndpoint } from '../../api/client.ts';

/** Endpoints of customers, purchases and transactions. */
export const purchaseEndpoints = {
  actOnPurchase: defineEndpoint<typeof actOnPurchase>('POST', '/v3/purchases/:purchaseId/actions'),
  addCustomerPurchase: defineEndpoint<typeof addCustomerPurchase>(
    'POST',
    '/v3/customers/:applicationUsername/purchases',
  ),
  getCustomerClaims: defineEndpoint<typeof getCustomerClaims>('GET', '/v3/customers/:applicationUsername/claims'),
  getCustomerTimeline: defineEndpoint<typeof getCustomerTimeline>('GET', '/v3/customers/:applicationUsername/timeline'),
  getCustomerTransactions: defineEndpoint<typeof getCustomerTransactions>(
    'GET',
    '/v3/customers/:applicationUsername/transactions',
  ),
  getPurchase: defineEndpoint<typeof getPurchase>('GET', '/v3/purchases/:purchaseId'),
  getPurchaseOwners: defineEndpoint<typeof getPurchaseOwners>('GET', '/v3/purchases/:purchaseId/owners'),
  getPurchaseTimeline: defineEndpoint<typeof getPurchaseTimeline>('GET', '/v3/purchases/:purchaseId/timeline'),
  listPurchaseActions: defineEndpoint<typeof listPurchaseActions>('GET', '/v3/purchases/:purchaseId/actions'),
  listPurchases: defineEndpoint<typeof listPurchases>('GET', '/v3/purchases'),
  listTransactions: defineEndpoint<typeof listTransactions>('GET', '/v3/transactions'),
  refreshPurchase: defineEndpoint<typeof refreshPurchase>('POST', '/v3/purchases/:purchaseId/refresh'),
  search: defineEndpoint<typeof search>('GET', '/v3/search'),
};
