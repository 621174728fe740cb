import { actOnPurchase, listPurchaseActions } from '../actions/contract.ts';
import { createAnnotation, deleteAnnotation, listAnnotations } from '../annotations/contract.ts';
import type { Contract } from '../api/contract.ts';
import { getVersion } from '../api/service.ts';
import { createKey, listKeys, revokeKey } from '../apps/api-key-contract.ts';
import { getCatalogue, setCatalogue } from '../apps/catalogue-contract.ts';
import { getCommissionRates } from '../apps/commission-rate-contract.ts';
import { changeApp, getApp, setWebhook, testAlert } from '../apps/contract.ts';
import {
  changePlan,
  createCheckout,
  createClientToken,
  createPortal,
  getPrices,
  getProcessorPurchases,
} from '../checkout/contract.ts';
import {
  captureCredits,
  getCustomerCredits,
  giveCredits,
  listCreditHistory,
  releaseCredits,
  spendCredits,
  takeCredits,
} from '../credits/contract.ts';
import { addCustomerPurchase, getCustomerClaims, mergeCustomer } from '../customers/claim-contract.ts';
import {
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTimeline,
  getCustomerTransactions,
  listCustomers,
} from '../customers/contract.ts';
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
import {
  getPurchase,
  getPurchaseOwners,
  getRefreshToken,
  listPurchases,
  refreshPurchase,
} from '../purchases/contract.ts';
import { getPurchaseTimeline } from '../purchases/timeline-contract.ts';
import { getTransaction, listTransactions } from '../purchases/transaction-contract.ts';
import { answerRefundRequest, getRefundRequest, listRefundRequests, setRefundConsent } from '../refunds/contract.ts';
import { search } from '../search/contract.ts';
import { getStatsBreakdown } from '../statistics/breakdown-contract.ts';
import { getConversion, getLtv, getRetention } from '../statistics/cohort-contract.ts';
import { getAppStats, getStats, getStatsV2 } from '../statistics/contract.ts';
import { getCreditStats } from '../statistics/credit-stats-contract.ts';
import { getChurn, getMrr } from '../statistics/mrr-contract.ts';
import { getRevenue } from '../statistics/revenue-contract.ts';
import { checkStore, getStoreSettings, listStores, setStore } from '../stores/contract.ts';
import { validateReceipt } from '../validation/contract.ts';
import {
  getDelivery,
  getForwards,
  getWebhookStats,
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
  getCustomerCredits,
  listCreditHistory,
  spendCredits,
  giveCredits,
  takeCredits,
  captureCredits,
  releaseCredits,
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
  getRevenue,
  getCreditStats,
  getMrr,
  getChurn,
  getRetention,
  getLtv,
  getConversion,
  createAnnotation,
  listAnnotations,
  deleteAnnotation,
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
  getWebhookStats,
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
  testAlert,
  listKeys,
  createKey,
  revokeKey,
  setWebhook,
  getDue,
  listStores,
  checkStore,
  getStoreSettings,
  setStore,
  signOffer,
  getVersion,
];
