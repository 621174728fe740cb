import { ServiceError } from '../../errors.ts';
import type { Asking } from '../store.ts';
import { type Play, playOf } from './play.ts';
import { storeBSettings } from './settings.ts';

/** Google Play as the application's settings can ask it. Throws `InternalError` without a service account. */
export function connected(asking: Asking, totalMs?: number): Play {
  const { serviceAccount, ...settings } = storeBSettings(asking.settings);
  if (!serviceAccount) {
    throw new ServiceError(
      'InternalError',
      'Purchases of store_b cannot be read from Google without a service account in the settings.',
    );
  }
  return playOf({ ...settings, serviceAccount }, asking, totalMs);
}
