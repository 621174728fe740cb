import { createHandler } from '../../lib/http/endpoint.ts';
import { getLtv } from '../../lib/statistics/cohort-contract.ts';
import { getCohortFigures } from '../../lib/statistics/get-figures.ts';
import { buildLtvCohorts } from '../../lib/statistics/to-cohorts.ts';

export const handler = createHandler(getLtv)(
  async ({ app, query }, service) =>
    await getCohortFigures(service, app.name, query, { reads: { customers: true }, buildCohorts: buildLtvCohorts }),
);
