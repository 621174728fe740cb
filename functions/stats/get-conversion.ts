import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getConversion } from '../../lib/api/figures.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { getCohortFigures } from '../../lib/statistics/get-figures.ts';
import { buildConversionCohorts } from '../../lib/statistics/to-cohorts.ts';

export const handler = createHandler(getConversion, () => ({
  counters: createCounterRepository(table()),
  findCatalogue: apps().findCatalogue,
  now,
}))(
  async ({ app, query }, deps) =>
    await getCohortFigures(app.name, query, {
      deps,
      reads: { customers: true, days: true },
      buildCohorts: buildConversionCohorts,
    }),
);
