import { createHandler } from '../../lib/http/endpoint.ts';
import { createAnnotation } from '../../lib/statistics/annotation-contract.ts';
import { saveAnnotation } from '../../lib/statistics/annotation-table.ts';

export const handler = createHandler(createAnnotation)(
  async ({ app, body }, service) => await saveAnnotation(service, app.name, body),
);
