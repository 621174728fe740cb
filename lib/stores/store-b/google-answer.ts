import { ServiceError } from '../../errors.ts';
import type { StoreAnswer } from '../store.ts';
import { understoodOr } from '../understood.ts';

/** The error of a Google that cannot be asked now; what is wrong stays in the cause. */
export const unavailable = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'Google Play cannot be asked now.', { cause });

/** The JSON text of an answer as the schema's type. Throws `ConnectionFailed` for a page, garbage or other words. */
export const understood = understoodOr(unavailable);

/** The error of a service account that Google does not accept: a new grant may take two days to be effective. */
export const misconfigured = (cause: string): ServiceError =>
  new ServiceError(
    'InternalError',
    'Google refuses the store_b settings of this application: check the service account and its permissions in the Play Console.',
    { cause },
  );

/** Throws what an answer that is not about the purchase calls for; leaves 400, 404, 409 and 410 to the caller. */
export function checkAnswer({ status }: StoreAnswer): void {
  if (status === 401 || status === 403) throw misconfigured(`HTTP ${status}`);
  const isAboutPurchase = (status >= 200 && status < 300) || [400, 404, 409, 410].includes(status);
  if (!isAboutPurchase) throw unavailable(`HTTP ${status}`);
}
