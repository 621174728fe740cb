import { actOnPurchase, listPurchaseActions } from './actions.ts';
import { changeApp, createKey, getApp, getCatalogue, listKeys, revokeKey, setCatalogue, setWebhook } from './app.ts';
import { createClientToken } from './braintree.ts';
import { getCommissionRates } from './commission-rates.ts';
import type { Contract } from './contract.ts';
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
} from './customers.ts';
import { getDue } from './due.ts';
import {
  changeGrant,
  createEntitlementToken,
  createGrant,
  explainAccess,
  getCustomerEntitlements,
  getTokenKeys,
  listGrants,
  revokeGrant,
} from './entitlements.ts';
import { getEvent, getEventAnalysis, getEventRaw, listEvents, searchEvents } from './events.ts';
import { getChurn, getConversion, getLtv, getMrr, getRetention } from './figures.ts';
import { signOffer } from './offers.ts';
import { verifyPurchase } from './openiap.ts';
import {
  getPurchase,
  getPurchaseOwners,
  getPurchaseTimeline,
  getRefreshToken,
  listPurchases,
  refreshPurchase,
} from './purchases.ts';
import { answerRefundRequest, getRefundRequest, listRefundRequests, setRefundConsent } from './refund-requests.ts';
import { search } from './search.ts';
import { getVersion } from './service.ts';
import { getAppStats, getStats, getStatsBreakdown, getStatsV2 } from './stats.ts';
import { checkStore, listStores, setStore } from './stores.ts';
import { changePlan, createCheckout, createPortal, getPrices, getProcessorPurchases } from './stripe.ts';
import { getTransaction, listTransactions } from './transactions.ts';
import { validateReceipt } from './validation.ts';
import {
  getDelivery,
  getForwards,
  listDeliveries,
  repeatWebhook,
  replayDeliveries,
  replayDelivery,
  setForwards,
  testWebhook,
} from './webhooks.ts';

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
