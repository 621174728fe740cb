import { actionApi } from '../actions/contract.ts';
import { annotationApi } from '../annotations/contract.ts';
import type { Contract } from '../api/contract.ts';
import type { ApiPart, OperationDescription, SchemaDescription } from '../api/describe.ts';
import { errorDescriptions } from '../api/errors.ts';
import { pagingDescriptions } from '../api/paging.ts';
import { enumerationDescriptions, formatDescriptions } from '../api/schemas.ts';
import { serviceApi } from '../api/service.ts';
import { apiKeyApi } from '../apps/api-key-contract.ts';
import { catalogueApi } from '../apps/catalogue-contract.ts';
import { commissionRateApi } from '../apps/commission-rate-contract.ts';
import { appApi } from '../apps/contract.ts';
import { processorApi } from '../checkout/contract.ts';
import { creditApi } from '../credits/contract.ts';
import { customerClaimApi } from '../customers/claim-contract.ts';
import { customerApi } from '../customers/contract.ts';
import { entitlementApi } from '../entitlements/contract.ts';
import { eventApi } from '../events/contract.ts';
import { offerApi } from '../offers/contract.ts';
import { openIapApi } from '../openiap/contract.ts';
import { dueApi } from '../problems/contract.ts';
import { purchaseEndpointApi } from '../purchases/contract.ts';
import { purchaseDescriptions } from '../purchases/purchase-contract.ts';
import { timelineApi } from '../purchases/timeline-contract.ts';
import { transactionApi } from '../purchases/transaction-contract.ts';
import { refundRequestApi } from '../refunds/contract.ts';
import { searchApi } from '../search/contract.ts';
import { breakdownApi } from '../statistics/breakdown-contract.ts';
import { cohortApi } from '../statistics/cohort-contract.ts';
import { statsApi } from '../statistics/contract.ts';
import { creditStatsApi } from '../statistics/credit-stats-contract.ts';
import { figuresDescriptions } from '../statistics/figures-contract.ts';
import { mrrApi } from '../statistics/mrr-contract.ts';
import { revenueApi } from '../statistics/revenue-contract.ts';
import { storeApi } from '../stores/contract.ts';
import { storeRequestDescriptions } from '../stores/store-request-contract.ts';
import { validationApi } from '../validation/contract.ts';
import { evidenceDescriptions } from '../validation/evidence-contract.ts';
import { validationRequestDescriptions } from '../validation/request-contract.ts';
import { webhookApi } from '../webhooks/contract.ts';

/** The parts of the API, in the order of its document. */
const parts: readonly ApiPart[] = [
  validationApi,
  openIapApi,
  customerApi,
  customerClaimApi,
  entitlementApi,
  creditApi,
  purchaseEndpointApi,
  timelineApi,
  transactionApi,
  actionApi,
  refundRequestApi,
  statsApi,
  breakdownApi,
  revenueApi,
  creditStatsApi,
  mrrApi,
  cohortApi,
  annotationApi,
  eventApi,
  webhookApi,
  processorApi,
  offerApi,
  appApi,
  apiKeyApi,
  catalogueApi,
  commissionRateApi,
  storeApi,
  serviceApi,
  searchApi,
  dueApi,
];

/** Descriptions of all operations. */
export const operationDescriptions: readonly OperationDescription[] = parts.flatMap(({ operations }) => operations);

/** All endpoints of the service. Routes, functions, permissions and the API document are built from this list. */
export const contracts: readonly Contract[] = operationDescriptions.map(({ contract }) => contract);

/** Descriptions of all schemas of the API. */
export const schemaDescriptions: readonly SchemaDescription[] = [
  ...enumerationDescriptions,
  ...formatDescriptions,
  ...pagingDescriptions,
  ...errorDescriptions,
  ...validationRequestDescriptions,
  ...evidenceDescriptions,
  ...purchaseDescriptions,
  ...storeRequestDescriptions,
  ...figuresDescriptions,
  ...parts.flatMap(({ descriptions }) => descriptions),
];
