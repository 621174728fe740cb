import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { listAppNames } from '../../lib/apps/app-list-table.ts';
import { getStoredApp } from '../../lib/apps/manage-apps.ts';
import { parseBucketUrl } from '../../lib/export/bucket-location.ts';
import type { ExportSchedule } from '../../lib/export/export-schedule.ts';
import { findExportSchedule, removeExportSchedule, setExportSchedule } from '../../lib/export/export-schedule-table.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parseJson } from '../../lib/foundation/parse.ts';
import type { CommandResult } from '../command-result.ts';
import { formatTime } from '../format.ts';
import { getService } from '../get-service.ts';

interface Options {
  readonly off?: true;
}

/** Sets, shows or ends the schedule of the exports of an app. */
export async function scheduleAction(
  appName: string,
  location: string | undefined,
  { off }: Options,
): Promise<CommandResult> {
  if (off && location !== undefined) throw new InvalidArgumentError('Pass a location or --off.');
  if (off) return await endSchedule(appName);
  const app = await getStoredApp(getService(), appName);
  if (location === undefined) {
    const schedule = await findExportSchedule(getService(), app.name);
    return { data: { app: app.name, schedule: schedule ?? null }, text: formatSchedule(app.name, schedule) };
  }
  const { bucket, prefix } = parseBucketUrl(location);
  const url = `s3://${bucket}/${prefix}`;
  requireAllowedLocation(url, readAllowedLocations());
  await requireOwnLocation(app.name, url);
  const schedule = { location: url, createdAt: getService().now() };
  await setExportSchedule(getService(), app.name, schedule);
  const text = `${app.name} is exported to ${url}: all rows every day (UTC), changes every hour. The first export starts within 15 minutes.`;
  return { data: { app: app.name, schedule }, text };
}

async function endSchedule(appName: string): Promise<CommandResult> {
  await removeExportSchedule(getService(), appName);
  return {
    data: { app: appName, schedule: null },
    text: `${appName} is not exported any longer. Its files stay; customer erase --exports rewrites them.`,
  };
}

const Outputs = v.object({ ExportLocations: v.exactOptional(v.string()) });

/** Returns the value of the deployment option. Undefined without the outputs of a stack. */
function readAllowedLocations(): readonly string[] | undefined {
  const { STACK_OUTPUTS: outputs } = process.env;
  if (outputs === undefined) return undefined;
  return parseJson(Outputs, outputs).ExportLocations?.split(',') ?? [];
}

function requireAllowedLocation(url: string, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || allowed.some((location) => contains(location, url))) return;
  throw new ServiceError(
    'Forbidden',
    `The service must not write ${url}. Deploy it with -c exportLocations=${url}, or a location that contains it.`,
  );
}

/** Two apps in one location would replace the files of each other. */
async function requireOwnLocation(appName: string, url: string): Promise<void> {
  for (const name of await listAppNames(getService())) {
    const other = name === appName ? undefined : await findExportSchedule(getService(), name);
    if (other && (contains(other.location, url) || contains(url, other.location)))
      throw new ServiceError('Conflict', `${name} is exported to ${other.location}. Each app needs its own location.`);
  }
}

const contains = (location: string, url: string): boolean => `${url}/`.startsWith(`${location}/`);

function formatSchedule(appName: string, schedule: ExportSchedule | undefined): string {
  if (!schedule) return `${appName} has no schedule.`;
  const { location, fullAt, exportedAt, leaseUntil = 0, failure } = schedule;
  const format = (time: number | undefined): string => (time === undefined ? 'never' : formatTime(time));
  return [
    `location       ${location}`,
    `all rows       ${format(fullAt)}`,
    `latest export  ${format(exportedAt)}`,
    ...(leaseUntil > getService().now() ? ['state          an export is running'] : []),
    ...(failure === undefined ? [] : [`failure        ${failure}`]),
  ].join('\n');
}
