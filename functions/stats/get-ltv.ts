import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getLtv } from '../../lib/api/figures.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { getCohortFigures } from '../../lib/statistics/get-figures.ts';
import { buildLtvCohorts } from '../../lib/statistics/to-cohorts.ts';

export const handler = createHandler(getLtv, () => ({
  counters: createCounterRepository(table()),
  findCatalogue: apps().findCatalogue,
  now,
}))(
  async ({ app, query }, deps) =>
    await getCohortFigures(app.name, query, { deps, reads: { customers: true }, buildCohorts: buildLtvCohorts }),
);
