import { createHandler } from '../../lib/http/endpoint.ts';
import { listAnnotations as contract } from '../../lib/statistics/annotation-contract.ts';
import { listAnnotations } from '../../lib/statistics/annotation-table.ts';

export const handler = createHandler(contract)(async ({ app, query }, service) => ({
  rows: await listAnnotations(service, app.name, query),
}));
