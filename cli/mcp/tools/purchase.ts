import * as v from 'valibot';
import { Id } from '../../../lib/api/schemas.ts';
import { getPurchase, getPurchaseOwners, PurchaseClaim } from '../../../lib/purchases/contract.ts';
import { PurchaseNotification } from '../../../lib/purchases/purchase-contract.ts';
import { PurchaseDetailsRow } from '../rows.ts';
import { defineTool, limitRows, OmittedRows } from '../tool.ts';

const maxNotifications = 25;
const maxClaims = 25;

const { notifications: _notifications, entitledUsers: _users, ...purchaseEntries } = PurchaseDetailsRow.entries;

export const purchase = defineTool({
  name: 'purchase',
  title: 'Get a purchase',
  description:
    'Gets a purchase: its state, its latest lifecycle notifications, the customers who claim it, and the rule that ' +
    'decides who of them is entitled.',
  input: v.object({ purchaseId: Id }),
  output: v.object({
    purchase: v.object(purchaseEntries),
    notifications: v.object({ rows: v.array(PurchaseNotification), omittedRows: OmittedRows }),
    strategy: getPurchaseOwners.response.entries.strategy,
    decidedBy: getPurchaseOwners.response.entries.decidedBy,
    claims: v.object({ rows: v.array(PurchaseClaim), omittedRows: OmittedRows }),
  }),
  async read({ purchaseId }, api) {
    const params = { purchaseId };
    const [{ notifications = [], ...state }, owners] = await Promise.all([
      api.read(getPurchase, { params, query: { include_notifications: 'true' } }),
      api.read(getPurchaseOwners, { params }),
    ]);
    return {
      purchase: state,
      notifications: limitRows(sortNewestFirst(notifications), maxNotifications),
      strategy: owners.strategy,
      decidedBy: owners.decidedBy,
      claims: limitRows(owners.claims, maxClaims),
    };
  },
});

const sortNewestFirst = <T extends { readonly date: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0));
