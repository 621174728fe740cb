import { getService } from '../lib/foundation/get-service.ts';
import { toKey } from '../lib/foundation/key.ts';
import { purchaseKey } from '../lib/foundation/keys.ts';
import type { Item } from '../lib/foundation/table.ts';
import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { findDelivery } from '../lib/webhooks/delivery-table.ts';
import { fanOutDeliveries } from '../lib/webhooks/fan-out.ts';
import type { WebhookMessage } from '../lib/webhooks/webhook-message.ts';
import { buildStreamRecord } from './stream-records.ts';

/** Records the webhooks of all changes of purchases, whether a request, a notification or a refresh has caused them. */
export interface WebhookRecorder {
  /** Returns the webhooks of an app since the last call, in the order of the changes. */
  take(appName: string): Promise<readonly WebhookDelivery[]>;
  close(): void;
}

/** Reads each written purchase as the stream does, and creates its webhooks by the real worker. */
export function startWebhookRecorder(): WebhookRecorder {
  const { table } = getService();
  const { transact } = table;
  const changes: { before?: Item; after: Item }[] = [];
  table.transact = async (writes) => {
    const after = writes.map(({ Put }) => Put?.Item).find((item) => item?.sk === purchaseKey.sortKey());
    const before = after && (await table.get(toKey(after)));
    await transact(writes);
    if (after) changes.push({ after, ...(before && { before }) });
  };
  return {
    async take(appName) {
      const taken = changes.filter(({ after }) => String(after.pk).startsWith(`${appName}#`));
      for (const change of taken) changes.splice(changes.indexOf(change), 1);
      const webhooks: WebhookDelivery[] = [];
      const enqueue = async (message: WebhookMessage) => {
        const delivery = await findDelivery(getService(), appName, message.deliveryId);
        if (delivery) webhooks.push(delivery);
      };
      const webhookQueue = {
        send: async (messages: readonly object[]) => {
          for (const message of messages) await enqueue(message as WebhookMessage);
        },
      };
      for (const [position, { before, after }] of taken.entries()) {
        const record = buildStreamRecord({ after: { ...after }, ...(before && { before: { ...before } }) }, position);
        const failed = await fanOutDeliveries({ ...getService(), webhookQueue }, [record]);
        if (failed !== undefined) throw new Error(`The webhooks of ${JSON.stringify(after)} were not created.`);
      }
      return webhooks;
    },
    close() {
      table.transact = transact;
    },
  };
}
