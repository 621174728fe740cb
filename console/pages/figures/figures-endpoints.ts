import type { getConversion, getLtv, getRetention } from '../../../lib/statistics/cohort-contract.ts';
import type { getChurn, getMrr } from '../../../lib/statistics/mrr-contract.ts';
import type { getRevenue } from '../../../lib/statistics/revenue-contract.ts';
import { defineEndpoint } from '../../api/client.ts';

export const figuresEndpoints = {
  getRevenue: defineEndpoint<typeof getRevenue>('GET', '/v3/stats/revenue'),
  getMrr: defineEndpoint<typeof getMrr>('GET', '/v3/stats/mrr'),
  getChurn: defineEndpoint<typeof getChurn>('GET', '/v3/stats/churn'),
  getRetention: defineEndpoint<typeof getRetention>('GET', '/v3/stats/retention'),
  getLtv: defineEndpoint<typeof getLtv>('GET', '/v3/stats/ltv'),
  getConversion: defineEndpoint<typeof getConversion>('GET', '/v3/stats/conversion'),
};
