import { ServiceError } from '../foundation/errors.ts';
import { attemptItems, type FailedItem } from '../foundation/failed-items.ts';
import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Table } from '../foundation/table.ts';
import { App } from './app.ts';

/** Lists the names of all apps in alphabetical order. */
export async function listAppNames({ table }: Service): Promise<string[]> {
  const entries = await table.query({ partition: keys.appIndexKeys.partition(), index: 'byCreated' });
  return entries.map(({ createdSk }) => String(createdSk));
}

type ReadOptions = Parameters<Table['batchGet']>[1];

/** Lists the apps that are readable, and the names of the others with the reason. */
export async function listApps(
  service: Service,
  options?: ReadOptions,
): Promise<{ readonly apps: App[]; readonly failed: readonly FailedItem[] }> {
  const names = await listAppNames(service);
  const items = await service.table.batchGet(
    names.map((name) => keys.appKey(name)),
    options,
  );
  const results = items.map(async (item) => {
    const { appName: app } = keys.appKey.parse(toKey(item));
    const { attempt, failed } = attemptItems({ app });
    return { app: await attempt(app, async () => parse(App, item, 'DatabaseError')), failed };
  });
  const read = await Promise.all(results);
  return {
    apps: read.map(({ app }) => app).filter((app) => app !== undefined),
    failed: read.flatMap(({ failed }) => failed),
  };
}

/** Runs the work of all readable apps. Throws after it if an app is not readable, so that an alarm starts. */
export async function runForApps(
  service: Service,
  run: (apps: readonly App[]) => Promise<void>,
  options?: ReadOptions,
): Promise<void> {
  const { apps, failed } = await listApps(service, options);
  await run(apps);
  const [first] = failed;
  if (!first) return;
  const message = `The app ${first.item} is not readable: ${first.problem}`;
  throw new ServiceError('DatabaseError', message, { isPermanent: true });
}
