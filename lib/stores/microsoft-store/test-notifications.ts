import type { NotificationRoute } from '../notification-route.ts';

/** Microsoft posts nothing: the check of the settings reads the clawback queue that the service polls. */
export const testNotifications = async (): Promise<NotificationRoute> => ({
  steps: [{ name: 'notification URL', outcome: 'not needed: the service polls the clawback queue', durationMs: 0 }],
  problems: [],
  numDelivered: 0,
});
