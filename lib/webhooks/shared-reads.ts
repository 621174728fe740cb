import { findWebhookSender } from '../apps/app-table.ts';
import { listStoredGrants } from '../entitlements/grant-table.ts';
import { memoize } from '../foundation/cache.ts';
import { perBatch, type Service } from '../foundation/service.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { findUrlHealth } from './delivery-table.ts';

/**
 * The messages of a batch read each app, the health of each URL and the purchases and grants of each customer once: the
 * webhooks of one app read the same two partitions, and a partition has 3,000 read units a second. A validation often
 * announces several changes of one customer, and all of them were stored before the batch was received.
 */
const getReads = perBatch((service) => ({
  findSender: memoize(async (appName: string) => await findWebhookSender(service, appName)),
  findUrlHealth: memoize(async (appName: string, url: string) => await findUrlHealth(service, appName, url)),
  listPurchases: memoize(
    async (appName: string, username: string) => await listRepresentativePurchases(service, appName, username),
  ),
  listGrants: memoize(async (appName: string, username: string) => await listStoredGrants(service, appName, username)),
}));

export const readSender = async (service: Service, appName: string) => await getReads(service).findSender(appName);

export const readUrlHealth = async (service: Service, appName: string, url: string) =>
  await getReads(service).findUrlHealth(appName, url);

export const readPurchases = async (service: Service, appName: string, username: string) =>
  await getReads(service).listPurchases(appName, username);

export const readGrants = async (service: Service, appName: string, username: string) =>
  await getReads(service).listGrants(appName, username);
