import type { App } from '../apps/app.ts';

/** Returns the sandbox URLs for a sandbox purchase if the app has any, otherwise the main URLs. */
export function selectWebhookUrls(
  { webhookSettings, deletedAt }: App,
  isSandbox: boolean | undefined,
): readonly string[] {
  if (!webhookSettings || deletedAt !== undefined) return [];
  return isSandbox && webhookSettings.sandboxUrls.length > 0 ? webhookSettings.sandboxUrls : webhookSettings.urls;
}
