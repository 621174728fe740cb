import { toCursorPage } from '../../lib/api/paging.ts';
import { getCustomerTimeline } from '../../lib/customers/contract.ts';
import { listCustomerTimeline } from '../../lib/events/timeline-table.ts';
import { toTimelineRecord } from '../../lib/events/to-timeline-record.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getCustomerTimeline)(async ({ app, params, query }, service) => {
  const { applicationUsername } = params;
  const { limit = 50, cursor } = query;
  const { rows, next } = await listCustomerTimeline(service, app.name, applicationUsername, { limit, cursor });
  return { applicationUsername, ...toCursorPage(rows.map(toTimelineRecord), next) };
});
