import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../../api/client.ts';
import { endpoints } from '../../api/endpoints.ts';
import { type Loaded, useApi, useLoad } from '../../api/use-api.ts';
import { usePolling } from '../../api/use-polling.ts';
import { readEmulatorClock } from '../../clock.ts';
import { addRecentCustomer } from '../../recent-customers.ts';
import { timelinePageSize } from '../purchase/history-tabs.tsx';
import { loadPaymentsFromStart } from '../purchase/load-payments.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { entitlementEndpoints } from './entitlement-endpoints.ts';
import { findLatestClaim, type GetClaimRevision } from './ownership-reason.tsx';
import { unownedClaims } from './unowned-claims.tsx';
import { useCustomerPurchases } from './use-customer-purchases.ts';

/** Loads what the page of a customer shows, and loads it again after changes. `skip` is that of the purchases. */
export function useCustomerData(user: string, skip: number) {
  const purchases = useCustomerPurchases(user, skip);
  const { newest, active = [] } = purchases.lists;
  const timeline = useApi(purchaseEndpoints.getCustomerTimeline, {
    params: { applicationUsername: user },
    query: { limit: timelinePageSize },
  });
  const events = timeline.data?.rows ?? [];
  const summaries = useApi(endpoints.listCustomers, {
    query: { applicationUsername: encodeURIComponent(user), include_spend: 'true' },
  });
  const summary = summaries.data?.rows.find(({ applicationUsername }) => applicationUsername === user);
  const app = useApi(endpoints.getApp, {});
  const products = Object.values(app.data?.catalogue ?? {});
  const creditNames = [...new Set(products.flatMap(({ credits }) => Object.keys(credits ?? {})))].sort();
  useEffect(() => {
    if (summary) addRecentCustomer(user);
  }, [user, summary !== undefined]);
  const [linkCount, setLinkCount] = useState(0);
  const [grantChanges, setGrantChanges] = useState(0);
  const revision = purchases.isLoaded ? JSON.stringify([newest, active]) : undefined;
  const getClaimRevision: GetClaimRevision = (details, purchaseId) =>
    timeline.data && JSON.stringify([linkCount, details, findLatestClaim(events, purchaseId)]);
  const loadPayments = async (signal: AbortSignal) =>
    await loadPaymentsFromStart(async (page) => {
      const request = { params: { applicationUsername: user }, query: page };
      return (await callApi(purchaseEndpoints.getCustomerTransactions, request, { signal })).transactions;
    });
  const payments = useLoad(loadPayments, user, { identity: user, revision });
  const claims = useApi(
    purchaseEndpoints.getCustomerClaims,
    { params: { applicationUsername: user }, query: unownedClaims },
    { revision: revision && getClaimRevision(revision) },
  );
  const accessRevision = revision && `${grantChanges}\n${getClaimRevision(revision)}`;
  const grants = useApi(
    entitlementEndpoints.listGrants,
    { params: { applicationUsername: user } },
    { revision: accessRevision },
  );
  const entitlements = useApi(
    entitlementEndpoints.getCustomerEntitlements,
    { params: { applicationUsername: user } },
    { revision: accessRevision },
  );
  const error = purchases.error ?? timeline.error ?? payments.error ?? claims.error;
  const reload = () => {
    for (const loaded of [purchases, timeline, payments, claims]) loaded.reload();
  };
  const handleLink = () => {
    setLinkCount(linkCount + 1);
    purchases.reload();
    timeline.reload();
  };
  const countGrantChange = () => setGrantChanges(grantChanges + 1);
  usePolling(
    () => {
      readEmulatorClock().catch(() => {});
      if (purchases.isLoading || timeline.isLoading) return;
      purchases.reload();
      timeline.reload();
    },
    { revision: JSON.stringify([revision, timeline.data?.rows]), minMs: 4_000, maxMs: 60_000 },
  );
  // In this order, so that no section moves another one that is already shown.
  const showsAccess = error !== undefined || [app, entitlements, grants].every(isSettled);
  const showsHistory = error !== undefined || (showsAccess && purchases.isLoaded && isSettled(claims));
  const isUnknown =
    [newest, timeline.data?.rows, claims.data?.rows].every((rows) => rows?.length === 0) &&
    timeline.data?.nextCursor === undefined;
  return {
    purchases,
    timeline,
    events,
    summary,
    app,
    creditNames,
    grantChanges,
    getClaimRevision,
    payments,
    claims,
    accessRevision,
    grants,
    entitlements,
    error,
    reload,
    handleLink,
    countGrantChange,
    showsAccess,
    showsHistory,
    isUnknown,
  };
}

const isSettled = ({ data, error }: Pick<Loaded<unknown>, 'data' | 'error'>): boolean =>
  data !== undefined || error !== undefined;
