import type { Contract } from './contract.ts';
import {
  addCustomerPurchase,
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
} from './customers.ts';
import { getEvent, getEventAnalysis, getEventRaw, listEvents, searchEvents } from './events.ts';
import { repeatWebhook } from './notifier.ts';
import { changePlan, createCheckout, createPortal, getPrices, getProcessorPurchases } from './processor-a.ts';
import { createClientToken } from './processor-b.ts';
import { getPurchase, getRefreshToken } from './purchases.ts';
import { getVersion } from './service.ts';
import { getTransaction } from './transactions.ts';
import { validateReceipt } from './validation.ts';

/** Every endpoint of the service. Routes, functions, permissions and the OpenAPI document are made from this list. */
export const contracts: readonly Contract[] = [
  validateReceipt,
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
  addCustomerPurchase,
  getPurchase,
  getRefreshToken,
  getTransaction,
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
