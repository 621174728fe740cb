import { listAnnotations } from '../../lib/annotations/annotation-table.ts';
import { listAnnotations as contract } from '../../lib/annotations/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(contract)(async ({ app, query }, service) => ({
  rows: await listAnnotations(service, app.name, query),
}));
