import type { Construct } from 'constructs';
import { type NotificationEndpoint, notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { buildEnvironment, grantPermissions, type Permission, type SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

const permissions: readonly Permission[] = ['stores', 'notifications', 'forwards'];

/**
 * Creates one function for each store that sends notifications, so that each store has its own alarm. All run the same
 * file.
 */
export const createNotificationFunctions = (scope: Construct, resources: SharedResources): ServiceFunction[] =>
  notificationEndpoints.map((endpoint) => createFunction(scope, endpoint, resources));

function createFunction(
  scope: Construct,
  { id, summary }: NotificationEndpoint,
  resources: SharedResources,
): ServiceFunction {
  const serviceFunction = new ServiceFunction(scope, id, {
    bundle: 'notifications/receive-notification',
    description: summary,
    timeoutSeconds: 10,
    memoryMb: 512,
    environment: buildEnvironment(permissions, resources),
    hasVersion: resources.hasAliases,
  });
  grantPermissions(serviceFunction.handler, permissions, { ...resources, writtenKeys: [] });
  return serviceFunction;
}
