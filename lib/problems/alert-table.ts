import { alertsKey } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { buildUpdate } from '../foundation/updates.ts';
import { AlertState } from './alert-state.ts';

export async function findAlerts({ table }: Service, appName: string): Promise<AlertState | undefined> {
  const item = await table.get(alertsKey(appName));
  return item && parse(AlertState, item, 'DatabaseError');
}

export async function saveAlerts({ table }: Service, appName: string, { url, problems }: AlertState): Promise<void> {
  await table.update(buildUpdate(alertsKey(appName), { url, problems: [...problems] }));
}
