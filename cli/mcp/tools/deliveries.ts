import * as v from 'valibot';
import { Id, Username } from '../../../lib/api/schemas.ts';
import { omitUndefined } from '../../../lib/foundation/omit-undefined.ts';
import { DeliveryAttemptRecord, DeliveryRecord, getDelivery, listDeliveries } from '../../../lib/webhooks/contract.ts';
import { Cursor, Day, defineTool, maxRows, NextCursor } from '../tool.ts';

const maxAttempts = 20;

// A request repeats the purchases of the customer.
const { request: _request, ...attemptEntries } = DeliveryAttemptRecord.entries;

export const deliveries = defineTool({
  name: 'deliveries',
  title: 'List webhook deliveries',
  description:
    'Lists the webhook deliveries to the server of the app, newest first, or gets one with its attempts (deliveryId). ' +
    'State pending waits for a retry; dead has used all attempts.',
  input: v.object({
    deliveryId: v.exactOptional(Id),
    state: v.exactOptional(v.picklist(['pending', 'delivered', 'dead', 'redirected'])),
    applicationUsername: v.exactOptional(Username),
    startdate: v.exactOptional(Day),
    enddate: v.exactOptional(Day),
    cursor: v.exactOptional(Cursor),
  }),
  output: v.object({
    rows: v.array(DeliveryRecord),
    /** Newest first. Present with `deliveryId`. */
    attempts: v.exactOptional(v.array(v.object(attemptEntries))),
    nextCursor: NextCursor,
  }),
  async read({ deliveryId, ...query }, api) {
    if (deliveryId !== undefined) {
      const { attempts, ...delivery } = await api.read(getDelivery, { params: { id: deliveryId } });
      return { rows: [delivery], attempts: attempts.slice(0, maxAttempts) };
    }
    const { rows, nextCursor } = await api.read(listDeliveries, { query: { ...query, limit: maxRows } });
    return { rows, ...omitUndefined({ nextCursor }) };
  },
});
