import { listConnectedPlatforms } from '../apps/store-settings-table.ts';
import { type Platform, platforms } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { buildNotificationUrl } from './notification-endpoints.ts';

/** The URL is the one that the store must call. */
interface StoreConnection {
  readonly platform: Platform;
  readonly isConnected: boolean;
  /** Absent for a store that does not push notifications. */
  readonly notificationUrl?: string;
}

/** Lists all stores with the settings of the app for them. */
export async function listStoreConnections(
  service: Service,
  appName: string,
  baseUrl: string,
): Promise<StoreConnection[]> {
  const connected = await listConnectedPlatforms(service, appName);
  return platforms.map((platform) => {
    const notificationUrl = buildNotificationUrl(baseUrl, appName, platform);
    return { platform, isConnected: connected.includes(platform), ...(notificationUrl && { notificationUrl }) };
  });
}
