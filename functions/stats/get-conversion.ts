import { createHandler } from '../../lib/http/endpoint.ts';
import { getConversion } from '../../lib/statistics/cohort-contract.ts';
import { getCohortFigures } from '../../lib/statistics/get-figures.ts';
import { buildConversionCohorts } from '../../lib/statistics/to-cohorts.ts';

export const handler = createHandler(getConversion)(
  async ({ app, query }, service) =>
    await getCohortFigures(service, app.name, query, {
      reads: { customers: true, days: true },
      buildCohorts: buildConversionCohorts,
    }),
);
