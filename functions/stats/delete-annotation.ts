import { deleteStoredAnnotation } from '../../lib/annotations/annotation-table.ts';
import { deleteAnnotation } from '../../lib/annotations/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(deleteAnnotation)(
  async ({ app, params }, service) => await deleteStoredAnnotation(service, app.name, params.annotationId),
);
