import type { AppCache } from '../apps/app-cache.ts';
import type { ProcessorAPlatform } from '../stores/processor-a/mapping-context.ts';

/** Through which account an application sells: its own, or the deployment's where only that is set. */
export async function selectCheckoutPlatform(
  appName: string,
  { findStoreSettings }: AppCache,
): Promise<ProcessorAPlatform> {
  if ((await findStoreSettings(appName, 'processor_a')) !== undefined) return 'processor_a';
  return (await findStoreSettings(appName, 'service_processor_a')) === undefined
    ? 'processor_a'
    : 'service_processor_a';
}

/** The accounts through which an application may have sold: its own first, then the deployment's, as far as they are set. */
export async function listCheckoutPlatforms(
  appName: string,
  cachedApps: AppCache,
): Promise<readonly ProcessorAPlatform[]> {
  const first = await selectCheckoutPlatform(appName, cachedApps);
  const second =
    first === 'processor_a' && (await cachedApps.findStoreSettings(appName, 'service_processor_a')) !== undefined;
  return second ? [first, 'service_processor_a'] : [first];
}
