import { createHandler } from '../../lib/http/endpoint.ts';
import { getRevenueFigures } from '../../lib/statistics/get-figures.ts';
import { getRevenue } from '../../lib/statistics/revenue-contract.ts';

export const handler = createHandler(getRevenue)(
  async ({ app, query }, service) => await getRevenueFigures(service, app.name, query),
);
