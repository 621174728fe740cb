import type { Platform } from '../foundation/platform.ts';
import { notificationEndpoints } from './notification-endpoints.ts';

/** Returns the URL to which the store must send the app's notifications. Undefined if the store does not push them. */
export function buildNotificationUrl(baseUrl: string, appName: string, platform: Platform): string | undefined {
  const [path] = notificationEndpoints.find((endpoint) => endpoint.platform === platform)?.paths ?? [];
  return path && `${baseUrl}${path.replace(':appName', encodeURIComponent(appName))}`;
}
