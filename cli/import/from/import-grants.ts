import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { createGrant } from '../../../lib/entitlements/manage-grants.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { ErasedNameRepository } from '../../../lib/purchases/erased-names.ts';
import { parseJson } from '../../../lib/shared/parse.ts';
import { commandLineKey } from '../../entitlement-commands.ts';

const Grant = v.object({
  id: v.string(),
  user: v.string(),
  entitlement: v.string(),
  until: v.exactOptional(v.number()),
});

interface GrantOptions {
  readonly appName: string;
  /** Service that the grants come from. */
  readonly service: string;
  readonly deps: Pick<Service, 'table' | 'now'> & { readonly erasedNames: ErasedNameRepository };
}

/** Creates the grants of a conversion. Idempotent. Returns the number of new grants. */
export async function importGrants(path: string, { appName, service, deps }: GrantOptions): Promise<number> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  let created = 0;
  for (const line of lines) {
    const { id, user, entitlement, until } = parseJson(Grant, line);
    if (until !== undefined && until <= deps.now()) continue;
    if ((await deps.erasedNames.select(appName, [user])).length > 0) continue;
    const request = { entitlement, reason: `Moved from ${service}`, idempotencyKey: `${service}:${id}:${entitlement}` };
    const { isNew } = await createGrant(
      deps,
      { ...request, ...(until !== undefined && { until }) },
      { appName, username: user, key: commandLineKey },
    );
    if (isNew) created++;
  }
  return created;
}
