import { Section } from '../../components/layout.tsx';
import { EmptyState, Notice } from '../../components/notice.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { formatNumber } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import type { PageProps } from '../page.ts';
import { TransactionTable } from '../transactions/transaction-table.tsx';
import { History, type HistoryPage } from './history.tsx';
import { maxPayments, type Payments } from './load-payments.ts';
import type { PurchaseLifecycle } from './to-history.ts';

/** Rows of one page of a timeline. */
export const timelinePageSize = 100;

interface HistoryTabsProps {
  readonly subject: 'customer' | 'purchase';
  readonly timeline: HistoryPage | undefined;
  readonly loadOlder: (cursor: string) => Promise<HistoryPage>;
  /** Purchases of a customer with their lifecycle. */
  readonly lifecycles?: readonly PurchaseLifecycle[] | undefined;
  /** What the timeline leaves out. */
  readonly timelineNote?: string | undefined;
  /** Undefined while they are loading. */
  readonly payments: Payments | undefined;
  readonly query: PageProps['query'];
  /** Tabs after the timeline and the payments. */
  readonly furtherTabs?: readonly Tab[];
}

/** The timeline and the payments of a purchase or of a customer. The selected tab is in the query of the URL. */
export function HistoryTabs({ subject, query, furtherTabs = [], ...shown }: HistoryTabsProps) {
  const { timeline, loadOlder, lifecycles, timelineNote, payments } = shown;
  const isCustomer = subject === 'customer';
  const renderTimeline = () => (
    <>
      <History
        label={`Timeline of the ${subject}`}
        newest={timeline}
        loadOlder={loadOlder}
        {...(lifecycles && { lifecycles })}
        kind={query.kind}
        showsRefreshes={query.refreshes === 'true'}
        linksPurchases={isCustomer}
      />
      {timelineNote !== undefined && <p class="section-note quiet">{timelineNote}</p>}
    </>
  );
  const renderPayments = () => (
    <>
      <TransactionTable
        caption={`Payments of the ${subject}`}
        rows={payments?.rows}
        empty={
          <EmptyState title={isCustomer ? 'The customer has not paid yet.' : 'The store has not reported a payment.'} />
        }
        fileName="payments"
        isOfOnePurchase={!isCustomer}
      />
      {payments?.hasOlder && <Notice>Only the newest {formatNumber(maxPayments)} payments are shown.</Notice>}
    </>
  );
  return (
    <Section title="History">
      <Tabs
        label="History"
        selected={query.tab}
        onSelect={(tab) => changeQuery({ tab })}
        tabs={[
          { id: 'timeline', label: 'Timeline', render: renderTimeline },
          { id: 'payments', label: 'Payments', render: renderPayments },
          ...furtherTabs,
        ]}
      />
    </Section>
  );
}
