import type { Context } from 'aws-lambda';
import { apps } from '../../composition/apps.ts';
import { entitlementDeps } from '../../composition/entitlements.ts';
import { openBucketTarget } from '../../composition/export-targets.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { createAppItemRepository } from '../../lib/db/app-item-repository.ts';
import { createCustomerDataRepository } from '../../lib/db/customer-data-repository.ts';
import { createExportScheduleRepository } from '../../lib/db/export-schedule-repository.ts';
import { runScheduledExports } from '../../lib/export/run-scheduled-exports.ts';
import { once } from '../../lib/shared/once.ts';

const deps = once(() => ({
  ...entitlementDeps(),
  apps: apps(),
  appItems: createAppItemRepository(table()),
  customerData: createCustomerDataRepository(table()),
  exportSchedules: createExportScheduleRepository(table()),
  openTarget: openBucketTarget,
  purchases: purchases(),
}));

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await runScheduledExports(deps(), () => context.getRemainingTimeInMillis());
