import {
  type ApiKey,
  type ApiKeyLevel,
  type App,
  apiKeyLevels,
  getKeyId,
  getKeysOfLevel,
  mainKeyName,
} from '../apps/app.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { createFinding, type Finding } from './finding.ts';

/** Time before the expiration from which a key is a finding. */
const noticeMs = 14 * dayMs;

/**
 * Finds named keys that have expired or will expire. The former main key of a rotation has a successor, so it is not a
 * finding.
 */
export function checkApiKeys(app: App, now: EpochMillis): readonly Finding[] {
  return apiKeyLevels.flatMap((level) =>
    getKeysOfLevel(app, level)
      .filter(({ name }) => name !== undefined)
      .flatMap((key) => checkKey(app.name, { level, key, now })),
  );
}

function checkKey(
  app: string,
  { level, key, now }: { readonly level: ApiKeyLevel; readonly key: ApiKey; readonly now: EpochMillis },
): Finding[] {
  const { name = mainKeyName, expiresAt } = key;
  if (expiresAt === undefined || expiresAt > now + noticeMs) return [];
  const day = new Date(expiresAt).toISOString().slice(0, 10);
  const id = getKeyId(key);
  const create = `create a key with \`key create ${app} --level ${level} --name …\``;
  if (expiresAt > now)
    return [
      createFinding(
        'api-key-expiring',
        {
          problem: `The ${level} key "${name}" (${id}) expires on ${day}.`,
          cure: `If it is still needed, ${create}, and give it to the users of the key. Then run \`key revoke ${app} ${id}\`.`,
        },
        { app },
      ),
    ];
  return [
    createFinding(
      'api-key-expired',
      {
        problem: `The ${level} key "${name}" (${id}) expired on ${day}: requests with it receive 401.`,
        cure: `Run \`key revoke ${app} ${id}\`. If it is still needed, first ${create}.`,
      },
      { app },
    ),
  ];
}
