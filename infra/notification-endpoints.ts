import { Construct } from 'constructs';
import { type NotificationEndpoint, notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { buildEnvironment, grantPermissions, type Permission, type SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

const permissions: readonly Permission[] = ['stores', 'notifications'];

/**
 * One function for each store that sends notifications, so that each store has its own alarm. All run the same file.
 */
export class NotificationEndpoints extends Construct {
  /** Functions by endpoint id. */
  readonly functions: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, resources: SharedResources) {
    super(scope, id);
    this.functions = new Map(
      notificationEndpoints.map((endpoint) => [endpoint.id, this.createFunction(endpoint, resources)]),
    );
  }

  private createFunction({ id, summary }: NotificationEndpoint, resources: SharedResources): ServiceFunction {
    const serviceFunction = new ServiceFunction(this, id, {
      bundle: 'notifications/receive-notification',
      description: summary,
      timeoutSeconds: 10,
      memoryMb: 512,
      environment: buildEnvironment(permissions, resources),
      hasAlias: resources.hasAliases,
    });
    grantPermissions(serviceFunction.handler, permissions, resources);
    return serviceFunction;
  }
}
