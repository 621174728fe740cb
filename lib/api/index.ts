import type { Contract } from './contract.ts';
import {
  addCustomerPurchase,
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
  listCustomers,
} from './customers.ts';
import { getEvent, getEventAnalysis, getEventRaw, listEvents, searchEvents } from './events.ts';
import { repeatWebhook } from './notifier.ts';
import { changePlan, createCheckout, createPortal, getPrices, getProcessorPurchases } from './processor-a.ts';
import { createClientToken } from './processor-b.ts';
import { getPurchase, getRefreshToken, listPurchases } from './purchases.ts';
import { getVersion } from './service.ts';
import { getAppStats, getStats, getStatsV2 } from './stats.ts';
import { getTransaction, listTransactions } from './transactions.ts';
import { validateReceipt } from './validation.ts';

/** All endpoints of the service. Routes, functions, permissions and the OpenAPI document are built from this list. */
export const contracts: readonly Contract[] = [
  validateReceipt,
  listCustomers,
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
  addCustomerPurchase,
  listPurchases,
  getPurchase,
  getRefreshToken,
  listTransactions,
  getTransaction,
  getStats,
  getStatsV2,
  getAppStats,
  listEvents,
  searchEvents,
  getEvent,
  getEventAnalysis,
  getEventRaw,
  repeatWebhook,
  createCheckout,
  changePlan,
  createPortal,
  getPrices,
  getProcessorPurchases,
  createClientToken,
  getVersion,
];
