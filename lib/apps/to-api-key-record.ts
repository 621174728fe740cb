import { toIso } from '../foundation/time.ts';
import type { ListedKey } from './manage-apps.ts';

/** Returns the API record of a key. */
export const toApiKeyRecord = ({ id, name, level, createdAt, expiresAt }: ListedKey) => ({
  id,
  name,
  level,
  ...(createdAt !== undefined && { createdAt: toIso(createdAt) }),
  ...(expiresAt !== undefined && { expiresAt: toIso(expiresAt) }),
});
