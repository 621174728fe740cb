import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getMrr } from '../../lib/api/figures.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { getIntervalFigures } from '../../lib/statistics/get-figures.ts';
import { buildMrrRows } from '../../lib/statistics/to-movement.ts';

export const handler = createHandler(getMrr, () => ({
  counters: createCounterRepository(table()),
  findCatalogue: apps().findCatalogue,
  now,
}))(async ({ app, query }, deps) => await getIntervalFigures(app.name, query, { deps, buildRows: buildMrrRows }));
