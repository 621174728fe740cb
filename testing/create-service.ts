import type { Service } from '../lib/foundation/service.ts';
import type { Table } from '../lib/foundation/table.ts';
import { startDate, testCipher } from './given.ts';

const ignoringQueue = { send: async () => {} };

/**
 * Creates the service record over a table, at `startDate`, with its own caches. Webhooks are not connected, and
 * messages are not sent.
 */
export const createService = (table: Table, changes: Partial<Service> = {}): Service => ({
  now: () => startDate,
  table,
  cipher: testCipher,
  eventRetentionDays: 90,
  emulator: { roots: [] },
  postWebhook: async () => ({ failure: 'no-connection', message: 'The test has no server.' }),
  notificationQueue: ignoringQueue,
  refreshQueue: ignoringQueue,
  webhookQueue: ignoringQueue,
  forwardQueue: ignoringQueue,
  streamFailures: ignoringQueue,
  container: {},
  ...changes,
});
