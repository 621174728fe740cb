import { createEventRepository } from '../lib/db/event-repository.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { once } from '../lib/shared/once.ts';
import { now } from './environment.ts';
import { table } from './table.ts';

/** Throws `InternalError` for an invalid retention: it must stop the service before it loses events. */
export const events = once(() => createEventRepository(table(), parseRetentionDays(process.env), now));

/** Retention of events, 90 days by default. Throws `InternalError` if the variable is not a number of days. */
function parseRetentionDays({ EVENT_RETENTION_DAYS: days = '90' }: NodeJS.ProcessEnv): number {
  if (/^[1-9]\d{0,4}$/.test(days)) return Number(days);
  throw new ServiceError('InternalError', 'The service is not configured.', {
    cause: 'EVENT_RETENTION_DAYS is not a number of days',
  });
}
