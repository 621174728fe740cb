import { getCustomerTimeline } from '../../lib/api/customers.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { timelines } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toTimelineRecord } from '../../lib/webhooks/to-timeline-record.ts';

export const handler = createHandler(getCustomerTimeline, { timelines })(
  async ({ app, params, query }, { timelines }) => {
    const { applicationUsername } = params;
    const { limit = 50, cursor } = query;
    const { rows, next } = await timelines.listByCustomer(app.name, applicationUsername, { limit, cursor });
    return { applicationUsername, ...toCursorPage(rows.map(toTimelineRecord), next) };
  },
);
