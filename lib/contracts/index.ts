import { actOnPurchase, listPurchaseActions } from '../actions/contract.ts';
import {
  changeApp,
  createKey,
  getApp,
  getCatalogue,
  listKeys,
  revokeKey,
  setCatalogue,
  setWebhook,
} from '../api/app.ts';
import { createClientToken } from '../api/braintree.ts';
import { getCommissionRates } from '../api/commission-rates.ts';
import type { Contract } from '../api/contract.ts';
import {
  addCustomerPurchase,
  getCustomer,
  getCustomerClaims,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTimeline,
  getCustomerTransactions,
  listCustomers,
  mergeCustomer,
} from '../api/customers.ts';
import {
  getPurchase,
  getPurchaseOwners,
  getPurchaseTimeline,
  getRefreshToken,
  listPurchases,
  refreshPurchase,
} from '../api/purchases.ts';
import { getVersion } from '../api/service.ts';
import { checkStore, listStores, setStore } from '../api/stores.ts';
import { changePlan, createCheckout, createPortal, getPrices, getProcessorPurchases } from '../api/stripe.ts';
import { getTransaction, listTransactions } from '../api/transactions.ts';
import { validateReceipt } from '../api/validation.ts';
import {
  changeGrant,
  createEntitlementToken,
  createGrant,
  explainAccess,
  getCustomerEntitlements,
  getTokenKeys,
  listGrants,
  revokeGrant,
} from '../entitlements/contract.ts';
import { getEvent, getEventAnalysis, getEventRaw, listEvents, searchEvents } from '../events/contract.ts';
import { signOffer } from '../offers/contract.ts';
import { verifyPurchase } from '../openiap/contract.ts';
import { getDue } from '../problems/contract.ts';
import { answerRefundRequest, getRefundRequest, listRefundRequests, setRefundConsent } from '../refunds/contract.ts';
import { search } from '../search/contract.ts';
import {
  getAppStats,
  getChurn,
  getConversion,
  getLtv,
  getMrr,
  getRetention,
  getStats,
  getStatsBreakdown,
  getStatsV2,
} from '../statistics/contract.ts';
import {
  getDelivery,
  getForwards,
  listDeliveries,
  repeatWebhook,
  replayDeliveries,
  replayDelivery,
  setForwards,
  testWebhook,
} from '../webhooks/contract.ts';

/** All endpoints of the service. Routes, functions, permissions and the OpenAPI document are built from this list. */
export const contracts: readonly Contract[] = [
  validateReceipt,
  verifyPurchase,
  listCustomers,
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
  getCustomerClaims,
  getCustomerTimeline,
  addCustomerPurchase,
  mergeCustomer,
  getCustomerEntitlements,
  createEntitlementToken,
  explainAccess,
  listGrants,
  createGrant,
  changeGrant,
  revokeGrant,
  getTokenKeys,
  listPurchases,
  getPurchase,
  getRefreshToken,
  refreshPurchase,
  listPurchaseActions,
  actOnPurchase,
  getPurchaseOwners,
  getPurchaseTimeline,
  listRefundRequests,
  getRefundRequest,
  answerRefundRequest,
  setRefundConsent,
  listTransactions,
  getTransaction,
  getStats,
  getStatsBreakdown,
  getMrr,
  getChurn,
  getRetention,
  getLtv,
  getConversion,
  getStatsV2,
  getAppStats,
  listEvents,
  searchEvents,
  search,
  getEvent,
  getEventAnalysis,
  getEventRaw,
  repeatWebhook,
  listDeliveries,
  getDelivery,
  replayDelivery,
  replayDeliveries,
  testWebhook,
  getForwards,
  setForwards,
  createCheckout,
  changePlan,
  createPortal,
  getPrices,
  getProcessorPurchases,
  createClientToken,
  getApp,
  getCatalogue,
  setCatalogue,
  getCommissionRates,
  changeApp,
  listKeys,
  createKey,
  revokeKey,
  setWebhook,
  getDue,
  listStores,
  checkStore,
  setStore,
  signOffer,
  getVersion,
];
