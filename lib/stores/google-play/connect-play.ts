import { ServiceError } from '../../foundation/errors.ts';
import type { StoreContext } from '../store-context.ts';
import { createPlayApi, type PlayApi } from './play-api.ts';
import { parseStoredSettings } from './settings.ts';

/** Creates the API client of an app. Throws `InternalError` if its settings lack a service account. */
export function connectPlay(
  context: Pick<StoreContext, 'settings' | 'fetch' | 'now' | 'stopwatch' | 'requiresAmounts'>,
  options: { readonly budgetMs?: number } = {},
): PlayApi {
  const { serviceAccount, ...settings } = parseStoredSettings(context.settings);
  if (!serviceAccount) throw new ServiceError('InternalError', 'serviceAccount is missing in the store_b settings.');
  return createPlayApi({ ...settings, serviceAccount }, context, options);
}
