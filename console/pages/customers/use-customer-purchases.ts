import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';

/** Purchases of one page. Most customers have fewer. */
export const purchasePageSize = 100;

/** The service lists at most so many purchases of a customer: the newest ones. */
export const maxListedPurchases = 10_000;

/** The maximum of the service. */
const maxActivePurchases = 1_000;

/** The purchases of a customer, newest first. Members are undefined while they are loading. */
export interface CustomerPurchaseLists {
  /** The first page. */
  readonly newest: readonly PurchaseDetails[] | undefined;
  /** The best active purchases of each product. Only loaded if the first page does not have all purchases. */
  readonly active: readonly PurchaseDetails[] | undefined;
  /** The page at `skip`. */
  readonly page: readonly PurchaseDetails[] | undefined;
  readonly skip: number;
  /** Number of all purchases. Approximate: a purchase that the customer has lost is counted for some time. */
  readonly total: number;
}

/** Loads the first page, and for a customer with more purchases the active ones and the page at `skip`. */
export function useCustomerPurchases(user: string, skip: number) {
  const selected = { customerId: user, include_notifications: 'true', order: 'newest' } as const;
  const first = useApi(purchaseEndpoints.listPurchases, { query: { ...selected, limit: purchasePageSize } });
  const total = first.data?.paging.total ?? 0;
  const active = useApi(
    purchaseEndpoints.listPurchases,
    total > purchasePageSize ? { query: { ...selected, active: 'true', limit: maxActivePurchases } } : undefined,
  );
  const further = useApi(
    purchaseEndpoints.listPurchases,
    skip > 0 ? { query: { ...selected, skip, limit: purchasePageSize } } : undefined,
  );
  const loaded = [first, active, further];
  const newest = first.data?.rows;
  const lists: CustomerPurchaseLists = {
    newest,
    active: active.data?.rows,
    // The former page stays in `data` while the next one is loading.
    page: skip === 0 ? newest : further.data?.paging.skip === skip ? further.data.rows : undefined,
    skip,
    total,
  };
  return {
    lists,
    isLoading: first.isLoading,
    isLoaded: newest !== undefined && (total <= purchasePageSize || active.data !== undefined),
    error: loaded.find(({ error }) => error !== undefined)?.error,
    reload: () => {
      for (const { reload } of loaded) reload();
    },
  };
}
