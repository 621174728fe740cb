import type { ComponentChildren } from 'preact';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { getPurchaseTimeline } from '../../../lib/purchases/timeline-contract.ts';
import { callApi } from '../../api/client.ts';
import { type Loaded, useAction, useApi, useLoad } from '../../api/use-api.ts';
import { usePolling } from '../../api/use-polling.ts';
import { readEmulatorClock, useNow } from '../../clock.ts';
import { announce, announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Columns, Page, Section } from '../../components/layout.tsx';
import { EndPlaceholders, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { CopyId, Platform } from '../../components/values.tsx';
import { formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import { useCanSupport } from '../../session.ts';
import { useChange } from '../../use-change.ts';
import type { PageProps } from '../page.ts';
import type { Owners } from './describe-ownership.ts';
import { describePurchase } from './describe-purchase.ts';
import { HistoryTabs, timelinePageSize } from './history-tabs.tsx';
import { loadPaymentsFromEnd, type Payments } from './load-payments.ts';
import { MissingRecord } from './missing-record.tsx';
import { PurchaseActions } from './purchase-actions.tsx';
import { purchaseEndpoints } from './purchase-endpoints.ts';
import { PurchaseFacts } from './purchase-facts.tsx';
import { PurchaseOwners } from './purchase-owners.tsx';
import { PurchaseState } from './purchase-state.tsx';
import { RawRecords } from './raw-records.tsx';

/** A purchase: its state in words, facts, owners, payments and timeline. Follows changes while the tab is visible. */
export const PurchasePage = ({ params: { id }, query }: PageProps<'id'>) => (
  // The key removes the data of the former purchase.
  <PurchaseWithId key={id} id={id} query={query} />
);

function PurchaseWithId({ id, query }: { readonly id: string } & Pick<PageProps, 'query'>) {
  const { purchase, error, reload, ...loaded } = usePurchase(id);
  if (purchase)
    return (
      <EndPlaceholders error={error}>
        <KnownPurchase {...loaded} purchase={purchase} query={query} onReload={reload}>
          <ErrorNotice error={error} onRetry={reload} />
        </KnownPurchase>
      </EndPlaceholders>
    );
  return (
    <Page title="Purchase" context={<Link to="/customers">Customers</Link>} subtitle={<CopyId value={id} label="id" />}>
      {error === undefined ? (
        <Section title="State">
          <Skeleton lines={12} />
        </Section>
      ) : (
        <MissingRecord error={error} onRetry={reload} title="The app has no purchase with this id." query={id}>
          Check that the id is complete, with the prefix of its store, such as <code>store_a:</code>. The purchase of
          another app is not visible.
        </MissingRecord>
      )}
    </Page>
  );
}

type Timeline = ContractResponse<typeof getPurchaseTimeline>;

interface LoadedPurchase {
  readonly purchase: PurchaseDetails | undefined;
  readonly payments: Payments | undefined;
  readonly timeline: Timeline | undefined;
  readonly owners: Loaded<Owners>;
  readonly error: unknown;
  readonly reload: () => void;
}

/** Loads a purchase. Requests its timeline again and again, and everything else when it shows a change. */
function usePurchase(id: string): LoadedPurchase {
  const now = useNow();
  const params = { purchaseId: id };
  const timeline = useApi(purchaseEndpoints.getPurchaseTimeline, { params, query: { limit: timelinePageSize } });
  const revision = timeline.data && JSON.stringify([timeline.data.updatedAt, timeline.data.checkedAt]);
  const purchase = useApi(
    purchaseEndpoints.getPurchase,
    { params, query: { include_notifications: 'true' } },
    // Time alone ends a purchase, too.
    { revision: ({ expirationDate = '' }) => revision && `${revision} ${Date.parse(expirationDate) <= now}` },
  );
  const isKnown = purchase.data !== undefined;
  const loadPayments = async (signal: AbortSignal) =>
    await loadPaymentsFromEnd(
      async (page) =>
        await callApi(purchaseEndpoints.listTransactions, { query: { ...page, purchaseId: id } }, { signal }),
    );
  const payments = useLoad(isKnown ? loadPayments : undefined, id, { identity: id, revision });
  const owners = useApi(purchaseEndpoints.getPurchaseOwners, isKnown ? { params } : undefined, { revision });
  usePolling(
    () => {
      // The clock of a deployment does not move.
      readEmulatorClock().catch(() => {});
      if (isKnown && !timeline.isLoading) timeline.reload();
    },
    {
      revision: JSON.stringify([revision, timeline.data?.rows.length, isKnown]),
      minMs: 2_000,
      maxMs: 60_000,
    },
  );
  return {
    purchase: purchase.data,
    payments: payments.data,
    timeline: timeline.data,
    owners,
    error: purchase.error ?? payments.error ?? timeline.error,
    reload: () => {
      for (const loaded of [purchase, payments, owners, timeline]) loaded.reload();
    },
  };
}

interface KnownPurchaseProps extends Pick<LoadedPurchase, 'payments' | 'timeline' | 'owners'> {
  readonly purchase: PurchaseDetails;
  readonly query: PageProps['query'];
  readonly onReload: () => void;
  readonly children: ComponentChildren;
}

function KnownPurchase({ purchase, payments, timeline, owners, query, onReload, children }: KnownPurchaseProps) {
  const now = useNow();
  const canSupport = useCanSupport();
  const { purchaseId, productId, platform } = purchase;
  const transactions = payments?.rows.toReversed();
  const description = describePurchase(purchase, { now, ...(transactions && { transactions }) });
  useChange(transactions && description.headline, () =>
    announce(`The purchase has changed. ${description.label}. ${description.headline}`),
  );
  return (
    <Page
      title={formatProductId(productId)}
      context={
        <>
          <Link to="/customers">Customers</Link> · <Platform value={platform} />
        </>
      }
      subtitle={<CopyId value={purchaseId} label="purchase id" />}
      actions={canSupport && timeline?.canRefresh && <RefreshButton purchase={purchase} onDone={onReload} />}
    >
      {children}
      <Columns>
        <Section title="State">
          <PurchaseState description={description} />
        </Section>
        <Section title="Owners">
          <PurchaseOwners {...owners} />
        </Section>
      </Columns>
      <Section title="Actions" description="What the store can do with this purchase.">
        <PurchaseActions purchase={purchase} revision={JSON.stringify(purchase)} onDone={onReload} />
      </Section>
      <Section title="Facts" description="Each fact with its source and the age of the information.">
        <PurchaseFacts purchase={purchase} timeline={timeline} />
      </Section>
      <HistoryTabs
        subject="purchase"
        timeline={timeline}
        loadOlder={(cursor) =>
          callApi(purchaseEndpoints.getPurchaseTimeline, {
            params: { purchaseId },
            query: { limit: timelinePageSize, cursor },
          })
        }
        payments={payments}
        query={query}
        furtherTabs={[
          {
            id: 'raw',
            label: 'Raw',
            render: () => <RawRecords purchase={purchase} transactions={transactions} />,
          },
        ]}
      />
    </Page>
  );
}

const RefreshButton = ({ purchase, onDone }: { readonly purchase: PurchaseDetails; readonly onDone: () => void }) => {
  const { run, isRunning, error } = useAction(async () => {
    const { purchaseId } = purchase;
    await callApi(purchaseEndpoints.refreshPurchase, { params: { purchaseId } });
    announceResult('The store was queried: the purchase is up to date.');
    onDone();
  });
  return (
    <>
      <Button icon="refresh" onClick={run} isBusy={isRunning}>
        Refresh at the store
      </Button>
      <ErrorNotice error={error} />
    </>
  );
};
