import { createHandler } from '../../lib/http/endpoint.ts';
import { getIntervalFigures } from '../../lib/statistics/get-figures.ts';
import { getMrr } from '../../lib/statistics/mrr-contract.ts';
import { buildMrrRows } from '../../lib/statistics/to-movement.ts';

export const handler = createHandler(getMrr)(
  async ({ app, query }, service) => await getIntervalFigures(service, app.name, query, buildMrrRows),
);
