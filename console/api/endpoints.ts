import type { getApp } from '../../lib/apps/contract.ts';
import type { listCustomers } from '../../lib/customers/contract.ts';
import type { getEvent, listEvents, searchEvents } from '../../lib/events/contract.ts';
import type { getDue } from '../../lib/problems/contract.ts';
import type { getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import type { getStats } from '../../lib/statistics/contract.ts';
import type { listStores } from '../../lib/stores/contract.ts';
import { defineEndpoint } from './client.ts';

/** Endpoints that several pages call. A page declares its own endpoints in its file. */
export const endpoints = {
  getApp: defineEndpoint<typeof getApp>('GET', '/v3/app'),
  getDue: defineEndpoint<typeof getDue>('GET', '/v3/due'),
  listStores: defineEndpoint<typeof listStores>('GET', '/v3/stores'),
  listCustomers: defineEndpoint<typeof listCustomers>('GET', '/v3/customers'),
  getStats: defineEndpoint<typeof getStats>('GET', '/v3/stats'),
  getStatsBreakdown: defineEndpoint<typeof getStatsBreakdown>('GET', '/v3/stats/breakdown'),
  listEvents: defineEndpoint<typeof listEvents>('GET', '/v3/events'),
  searchEvents: defineEndpoint<typeof searchEvents>('GET', '/v3/search/:tag'),
  getEvent: defineEndpoint<typeof getEvent>('GET', '/v3/events/:id'),
};
