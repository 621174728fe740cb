import { ServiceError } from '../../shared/errors.ts';
import type { StoreContext } from '../store-context.ts';
import { createPlayApi, type PlayApi } from './play-api.ts';
import { parseStoredSettings } from './settings.ts';

/** Google Play as the application's settings can ask it. Throws `InternalError` without a service account. */
export function connectPlay(context: StoreContext, totalMs?: number): PlayApi {
  const { serviceAccount, ...settings } = parseStoredSettings(context.settings);
  if (!serviceAccount) {
    throw new ServiceError(
      'InternalError',
      'Purchases of store_b cannot be read from Google without a service account in the settings.',
    );
  }
  return createPlayApi({ ...settings, serviceAccount }, context, totalMs);
}
