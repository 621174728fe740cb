import { createKey } from '../../lib/apps/api-key-contract.ts';
import { createApiKey } from '../../lib/apps/manage-apps.ts';
import { toApiKeyRecord } from '../../lib/apps/to-api-key-record.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(createKey)(async ({ app, body: { level, name, validDays } }, service) => {
  const validity = validDays === undefined ? {} : { validMs: validDays * dayMs };
  const { key, ...listed } = await createApiKey(service, app.name, { level, name, now: service.now(), ...validity });
  return { ok: true, key, ...toApiKeyRecord(listed) };
});
