import { createHandler } from '../../lib/http/endpoint.ts';
import { search } from '../../lib/search/contract.ts';
import { search as find } from '../../lib/search/search.ts';

export const handler = createHandler(search)(async ({ app, query }, service) => ({
  results: await find(service, app, query.q),
}));
