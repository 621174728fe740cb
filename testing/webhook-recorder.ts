import { deps } from '../composition/deps.ts';
import { purchaseKey } from '../lib/foundation/keys.ts';
import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { fanOutDeliveries } from '../lib/webhooks/fan-out.ts';
import { buildStreamRecord } from './stream-records.ts';

/** Records the webhooks of all changes of purchases, whether a request, a notification or a refresh has caused them. */
export interface WebhookRecorder {
  /** Returns the webhooks of an app since the last call, in the order of the changes. */
  take(appName: string): Promise<readonly WebhookDelivery[]>;
  close(): void;
}

/** Reads each written purchase as the stream does, and creates its webhooks by the real worker. */
export function startWebhookRecorder(): WebhookRecorder {
  const { purchases, table } = deps();
  const { saveChange } = purchases;
  const changes: { appName: string; before?: object; after: object }[] = [];
  purchases.saveChange = async (appName, change, options) => {
    const key = purchaseKey(appName, change.after.state.purchase.purchaseId);
    const before = await table.get(key);
    await saveChange(appName, change, options);
    const after = await table.get(key);
    if (after) changes.push({ appName, after, ...(before && { before }) });
  };
  return {
    async take(appName) {
      const taken = changes.filter((change) => change.appName === appName);
      for (const change of taken) changes.splice(changes.indexOf(change), 1);
      const webhooks: WebhookDelivery[] = [];
      const workerDeps = {
        ...deps(),
        deliveries: {
          ...deps().deliveries,
          async createIfAbsent(delivery: WebhookDelivery) {
            webhooks.push(delivery);
            return true;
          },
        },
        webhookQueue: { send: async () => undefined },
      };
      for (const [position, { before, after }] of taken.entries()) {
        const record = buildStreamRecord({ after: { ...after }, ...(before && { before: { ...before } }) }, position);
        const failed = await fanOutDeliveries([record], workerDeps);
        if (failed !== undefined) throw new Error(`The webhooks of ${JSON.stringify(after)} were not created.`);
      }
      return webhooks;
    },
    close() {
      purchases.saveChange = saveChange;
    },
  };
}
