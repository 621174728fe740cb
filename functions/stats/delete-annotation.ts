import { deleteAnnotation } from '../../lib/annotations/annotation-table.ts';
import { deleteAnnotation as contract } from '../../lib/annotations/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(contract)(
  async ({ app, params }, service) => await deleteAnnotation(service, app.name, params.annotationId),
);
