import { buildUpdate } from '../foundation/build-update.ts';
import { alertsKey } from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { type AlertRepository, AlertState } from '../problems/alert-repository.ts';
import { parse } from '../shared/parse.ts';

/** Creates the repository of the announced problems. */
export const createAlertRepository = (table: Table): AlertRepository => ({
  async find(appName) {
    const item = await table.get(alertsKey(appName));
    return item && parse(AlertState, item, 'DatabaseError');
  },
  async save(appName, { url, problems }) {
    await table.update(buildUpdate(alertsKey(appName), { url, problems: [...problems] }));
  },
});
