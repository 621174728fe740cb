import * as v from 'valibot';
import { EntitlementName, Username } from '../../../lib/api/schemas.ts';
import { CustomerInfo, getCustomer } from '../../../lib/customers/contract.ts';
import { EntitlementRecord, getCustomerEntitlements } from '../../../lib/entitlements/contract.ts';
import { PurchaseRow, TransactionRow } from '../rows.ts';
import { defineTool, limitRows, OmittedRows } from '../tool.ts';

const maxEntitlements = 10;
const maxPurchases = 20;
const maxTransactions = 20;

const list = <S extends v.GenericSchema>(row: S) => v.object({ rows: v.array(row), omittedRows: OmittedRows });

export const customer = defineTool({
  name: 'customer',
  title: 'Get a customer',
  description:
    'Gets a customer: entitlements, the best purchase of each product and the latest transactions. The name must be ' +
    'exact; use find for a part of it.',
  input: v.object({ applicationUsername: Username }),
  output: v.object({
    applicationUsername: v.string(),
    customerInfo: CustomerInfo,
    entitlements: list(v.object({ entitlement: EntitlementName, ...EntitlementRecord.entries })),
    purchases: list(PurchaseRow),
    latestTransactions: v.object({ rows: v.array(TransactionRow) }),
  }),
  async read({ applicationUsername }, api) {
    const params = { applicationUsername };
    const [{ customerInfo, purchases, transactions }, { entitlements }] = await Promise.all([
      api.read(getCustomer, { params, query: { limit: maxTransactions } }),
      api.read(getCustomerEntitlements, { params }),
    ]);
    const entitlementRows = Object.entries(entitlements).map(([entitlement, record]) => ({ entitlement, ...record }));
    return {
      applicationUsername,
      customerInfo,
      entitlements: limitRows(entitlementRows, maxEntitlements),
      purchases: limitRows(Object.values(purchases), maxPurchases),
      latestTransactions: { rows: transactions.slice(0, maxTransactions) },
    };
  },
});
