import { createHandler } from '../../lib/http/endpoint.ts';
import { search } from '../../lib/search/contract.ts';
import { searchApp } from '../../lib/search/search-app.ts';

export const handler = createHandler(search)(async ({ app, query }, service) => ({
  results: await searchApp(service, app, query.q),
}));
