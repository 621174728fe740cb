import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { commandLineKey } from '../../../lib/entitlements/grant.ts';
import { addGrant } from '../../../lib/entitlements/manage-grants.ts';
import { parseJson } from '../../../lib/foundation/parse.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { selectErasedNames } from '../../../lib/purchases/erased-name-table.ts';

const Grant = v.object({
  id: v.string(),
  user: v.string(),
  entitlement: v.string(),
  until: v.exactOptional(v.number()),
});

interface GrantOptions {
  readonly appName: string;
  /** Name of the service that the grants come from. */
  readonly from: string;
  readonly service: Service;
}

/** Creates the grants of a conversion. Idempotent. Returns the number of new grants. */
export async function importGrants(path: string, { appName, from, service }: GrantOptions): Promise<number> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  let created = 0;
  for (const line of lines) {
    const { id, user, entitlement, until } = parseJson(Grant, line);
    if (until !== undefined && until <= service.now()) continue;
    if ((await selectErasedNames(service, appName, [user])).length > 0) continue;
    const request = { entitlement, reason: `Moved from ${from}`, idempotencyKey: `${from}:${id}:${entitlement}` };
    const { isNew } = await addGrant(
      service,
      { ...request, ...(until !== undefined && { until }) },
      { appName, username: user, key: commandLineKey },
    );
    if (isNew) created++;
  }
  return created;
}
