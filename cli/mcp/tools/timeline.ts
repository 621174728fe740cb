import * as v from 'valibot';
import { Id, Username } from '../../../lib/api/schemas.ts';
import { getCustomerTimeline } from '../../../lib/customers/contract.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { omitUndefined } from '../../../lib/foundation/omit-undefined.ts';
import {
  getPurchaseTimeline,
  TimelineClaim,
  TimelineCredit,
  TimelineEvent,
  TimelineNotification,
  TimelinePayment,
} from '../../../lib/purchases/timeline-contract.ts';
import { TransactionRow } from '../rows.ts';
import { Cursor, defineTool, maxRows, NextCursor } from '../tool.ts';

const { asOf, checkedAt, updatedAt, lastRefreshAt, nextRefreshAt, failedRefreshes } =
  getPurchaseTimeline.response.entries;

export const timeline = defineTool({
  name: 'timeline',
  title: 'Get a timeline',
  description:
    'Lists what happened to a customer or to a purchase, newest first: validations, store notifications, payments, ' +
    'claims, webhooks and changed credits. Pass applicationUsername or purchaseId, not both. Pass nextCursor as cursor for older rows.',
  input: v.object({
    applicationUsername: v.exactOptional(Username),
    purchaseId: v.exactOptional(Id),
    cursor: v.exactOptional(Cursor),
  }),
  output: v.object({
    /** State of the purchase in the service. Absent for a customer. */
    purchase: v.exactOptional(v.object({ asOf, checkedAt, updatedAt, lastRefreshAt, nextRefreshAt, failedRefreshes })),
    rows: v.array(
      v.variant('type', [
        TimelineEvent,
        v.object({ ...TimelinePayment.entries, transaction: TransactionRow }),
        TimelineNotification,
        TimelineClaim,
        TimelineCredit,
      ]),
    ),
    nextCursor: NextCursor,
  }),
  async read({ applicationUsername, purchaseId, cursor }, api) {
    const query = { limit: maxRows, cursor };
    if (purchaseId !== undefined && applicationUsername === undefined) {
      const { rows, nextCursor, ...state } = await api.read(getPurchaseTimeline, { params: { purchaseId }, query });
      return { purchase: state, rows, ...omitUndefined({ nextCursor }) };
    }
    if (applicationUsername === undefined || purchaseId !== undefined)
      throw new ServiceError('InvalidPayload', 'Pass applicationUsername or purchaseId, not both.');
    const { rows, nextCursor } = await api.read(getCustomerTimeline, { params: { applicationUsername }, query });
    return { rows, ...omitUndefined({ nextCursor }) };
  },
});
