import { toCursorPage } from '../../lib/api/paging.ts';
import { listCreditHistory } from '../../lib/credits/contract.ts';
import { listEntries } from '../../lib/credits/credit-table.ts';
import { toCreditEntryRecord } from '../../lib/credits/to-records.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(listCreditHistory)(async ({ app, params, query }, service) => {
  const { applicationUsername: username } = params;
  const { limit = 50, cursor, sandbox } = query;
  const page = { username, isSandbox: sandbox === 'true', limit, cursor };
  const { rows, next } = await listEntries(service, app.name, page);
  return { applicationUsername: username, ...toCursorPage(rows.map(toCreditEntryRecord), next) };
});
