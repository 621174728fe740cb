import * as v from 'valibot';
import { getDue, WebhookUrlHealth } from '../../../lib/problems/contract.ts';
import { listStores, StoreStatus } from '../../../lib/stores/contract.ts';
import { defineTool, limitRows, OmittedRows } from '../tool.ts';

const maxUrls = 20;

const { countedUntil, overdueRefreshes, waitingWebhooks, pendingWebhooks, deadWebhooks, streamFailures } =
  getDue.response.entries;

export const health = defineTool({
  name: 'health',
  title: 'Check the health of the app',
  description:
    'Gets what is late or failing for the app: overdue refreshes, webhooks that wait or are dead, the health of each ' +
    'webhook URL and of each store. Statistics contain what was stored until countedUntil.',
  input: v.object({}),
  output: v.object({
    countedUntil,
    overdueRefreshes,
    waitingWebhooks,
    pendingWebhooks,
    deadWebhooks,
    streamFailures,
    webhookUrls: v.object({ rows: v.array(WebhookUrlHealth), omittedRows: OmittedRows }),
    stores: v.object({ rows: v.array(StoreStatus), omittedRows: OmittedRows }),
  }),
  async read(_input, api) {
    const [{ webhookUrls, ...due }, stores] = await Promise.all([api.read(getDue), api.read(listStores)]);
    return { ...due, webhookUrls: limitRows(webhookUrls, maxUrls), stores: limitRows(stores.rows, maxUrls) };
  },
});
