import { findWebhookSender } from '../apps/app-table.ts';
import { listGrants } from '../entitlements/grant-table.ts';
import { memoize } from '../foundation/memoize.ts';
import type { Service } from '../foundation/service.ts';
import { shareCalls } from '../foundation/share-calls.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { findUrlHealth } from './delivery-table.ts';

const createReads = (service: Service) => ({
  findSender: memoize(async (appName: string) => await findWebhookSender(service, appName)),
  findUrlHealth: memoize(async (appName: string, url: string) => await findUrlHealth(service, appName, url)),
  listPurchases: memoize(
    async (appName: string, username: string) => await listRepresentativePurchases(service, appName, username),
  ),
  listGrants: memoize(async (appName: string, username: string) => await listGrants(service, appName, username)),
});

const readsOfBatches = new WeakMap<Service, ReturnType<typeof createReads>>();

/**
 * Returns the service record for one batch of messages, which are handled concurrently. They read each app, the health
 * of each URL and the purchases and grants of each customer once: the webhooks of one app read the same two partitions,
 * and a partition has 3,000 read units a second. A validation often announces several changes of one customer, and all
 * of them were stored before the batch was received.
 */
export function startBatch(service: Service): Service {
  const batch = shareCalls(service);
  readsOfBatches.set(batch, createReads(batch));
  return batch;
}

const getReads = (service: Service) => readsOfBatches.get(service) ?? createReads(service);

export const readSender = async (service: Service, appName: string) => await getReads(service).findSender(appName);

export const readUrlHealth = async (service: Service, appName: string, url: string) =>
  await getReads(service).findUrlHealth(appName, url);

export const readPurchases = async (service: Service, appName: string, username: string) =>
  await getReads(service).listPurchases(appName, username);

export const readGrants = async (service: Service, appName: string, username: string) =>
  await getReads(service).listGrants(appName, username);
