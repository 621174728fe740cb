import { createHandler } from '../../lib/http/endpoint.ts';
import { getRetention } from '../../lib/statistics/cohort-contract.ts';
import { getCohortFigures } from '../../lib/statistics/get-figures.ts';
import { buildRetentionCohorts } from '../../lib/statistics/to-cohorts.ts';

export const handler = createHandler(getRetention)(
  async ({ app, query }, service) =>
    await getCohortFigures(service, app.name, query, { reads: {}, buildCohorts: buildRetentionCohorts }),
);
