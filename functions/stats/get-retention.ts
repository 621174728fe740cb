import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getRetention } from '../../lib/api/figures.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { getCohortFigures } from '../../lib/statistics/get-figures.ts';
import { buildRetentionCohorts } from '../../lib/statistics/to-cohorts.ts';

export const handler = createHandler(getRetention, () => ({
  counters: createCounterRepository(table()),
  findCatalogue: apps().findCatalogue,
  now,
}))(
  async ({ app, query }, deps) =>
    await getCohortFigures(app.name, query, { deps, reads: {}, buildCohorts: buildRetentionCohorts }),
);
