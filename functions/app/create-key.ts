import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { createKey } from '../../lib/api/app.ts';
import { createApiKey } from '../../lib/apps/manage-apps.ts';
import { toApiKeyRecord } from '../../lib/apps/to-api-key-record.ts';
import { dayMs } from '../../lib/shared/time.ts';

export const handler = createHandler(createKey, () => ({ apps: apps(), now }))(
  async ({ app, body: { level, name, validDays } }, { apps, now }) => {
    const validity = validDays === undefined ? {} : { validMs: validDays * dayMs };
    const { key, ...listed } = await createApiKey(apps, app.name, { level, name, now: now(), ...validity });
    return { ok: true, key, ...toApiKeyRecord(listed) };
  },
);
