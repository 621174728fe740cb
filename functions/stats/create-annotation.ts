import { saveAnnotation } from '../../lib/annotations/annotation-table.ts';
import { createAnnotation } from '../../lib/annotations/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(createAnnotation)(
  async ({ app, body }, service) => await saveAnnotation(service, app.name, body),
);
