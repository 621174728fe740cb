import { createApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { Table } from '../lib/foundation/table.ts';
import { createService } from './create-service.ts';
import { createUniqueName } from './given.ts';

/** Creates an app in the table and returns its name and API keys. */
export const givenApp = async (table: Table, name = createUniqueName()): Promise<IssuedApiKeys> =>
  await createApp(createService(table), name, Date.now());
