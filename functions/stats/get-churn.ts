import { createHandler } from '../../lib/http/endpoint.ts';
import { getIntervalFigures } from '../../lib/statistics/get-figures.ts';
import { getChurn } from '../../lib/statistics/mrr-contract.ts';
import { buildChurnRows } from '../../lib/statistics/to-movement.ts';

export const handler = createHandler(getChurn)(
  async ({ app, query }, service) => await getIntervalFigures(service, app.name, query, buildChurnRows),
);
