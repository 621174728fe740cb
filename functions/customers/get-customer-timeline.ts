import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getCustomerTimeline } from '../../lib/api/customers.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { createTimelineRepository } from '../../lib/db/timeline-repository.ts';
import { toTimelineRecord } from '../../lib/webhooks/to-timeline-record.ts';

export const handler = createHandler(getCustomerTimeline, () => ({
  timelines: createTimelineRepository(table(), now),
}))(async ({ app, params, query }, { timelines }) => {
  const { applicationUsername } = params;
  const { limit = 50, cursor } = query;
  const { rows, next } = await timelines.listByCustomer(app.name, applicationUsername, { limit, cursor });
  return { applicationUsername, ...toCursorPage(rows.map(toTimelineRecord), next) };
});
