import { createHandler } from '../../lib/http/endpoint.ts';
import { deleteAnnotation as contract } from '../../lib/statistics/annotation-contract.ts';
import { deleteAnnotation } from '../../lib/statistics/annotation-table.ts';

export const handler = createHandler(contract)(
  async ({ app, params }, service) => await deleteAnnotation(service, app.name, params.annotationId),
);
