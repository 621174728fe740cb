import { useEffect, useState } from 'preact/hooks';
import { type EmulatorPurchase, type EmulatorState, getEmulatorState } from '../../api/emulator.ts';
import { useLoad } from '../../api/use-api.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Page, Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice, Notice } from '../../components/notice.tsx';
import { Badge, DateTime, Platform } from '../../components/values.tsx';
import { Link } from '../../router.tsx';
import { useCanChange } from '../../session.ts';
import { buildCustomerColumn } from '../customer-column.tsx';
import type { PageProps } from '../page.ts';
import { BuyForm } from './buy-form.tsx';
import { ClockControls } from './clock-controls.tsx';
import { DayStatistics } from './day-statistics.tsx';
import { SelectedPurchase } from './selected-purchase.tsx';

const refreshMs = 1_000;
/** While nothing changes: a busy machine can process a change later than usual. */
const idleRefreshMs = 5_000;

/**
 * Buys in the emulated stores, acts on purchases and moves the clock. Shows each purchase as the service reports it,
 * its webhooks and the statistics of the day. A viewer watches.
 */
export function EmulatorPage({ query }: PageProps) {
  const canChange = useCanChange();
  const { data: state, error, reload } = useLoad(getEmulatorState, 'emulator', { refreshMs });
  const purchases = state && listPurchases(state);
  const selected = purchases?.find(({ id }) => id === query.purchase) ?? purchases?.[0];
  const actions = state?.platforms.find(({ platform }) => platform === selected?.platform)?.actions ?? [];
  const [changes, setChanges] = useState(0);
  const handleChange = () => {
    setChanges((count) => count + 1);
    reload();
  };
  const refreshServiceMs = useSettling(JSON.stringify([changes, state?.platforms])) ? refreshMs : idleRefreshMs;
  return (
    <Page
      title="Emulator"
      subtitle={
        <>
          The stores and the service are at <DateTime value={state?.now} kind="both" />
        </>
      }
    >
      <ErrorNotice error={error} onRetry={reload} />
      {canChange ? (
        <ClockControls nextDueTime={state?.nextDueTime} onChange={handleChange} />
      ) : (
        <Notice>Sign in with the secret key to buy and to move the clock.</Notice>
      )}
      <DayStatistics refreshMs={refreshServiceMs} />
      {selected && (
        <SelectedPurchase purchase={selected} actions={actions} refreshMs={refreshServiceMs} onChange={handleChange} />
      )}
      {canChange && <BuyForm platforms={state?.platforms ?? []} onChange={reload} />}
      <Section title="Purchases in the stores">
        <DataTable
          caption="Purchases in the stores"
          columns={columns}
          rows={purchases}
          getKey={({ platform, id }) => `${platform} ${id}`}
          empty={
            <EmptyState title="The stores have no purchase.">
              {canChange
                ? 'Buy a subscription, then renew it or move the clock.'
                : 'The list shows each purchase as soon as a store has it.'}
            </EmptyState>
          }
          placeholderRows={4}
        />
      </Section>
    </Page>
  );
}

/** Lists the purchases of all stores. */
const listPurchases = ({ platforms }: EmulatorState): readonly EmulatorPurchase[] =>
  platforms.flatMap(({ platform, purchases }) => purchases.map((purchase) => ({ ...purchase, platform }))).reverse();

const columns: readonly Column<EmulatorPurchase>[] = [
  {
    title: 'Product',
    render: ({ id, productId }) => (
      <Link to="/emulator" query={{ purchase: id }}>
        {productId}
      </Link>
    ),
  },
  { title: 'Store', render: ({ platform }) => <Platform value={platform} /> },
  buildCustomerColumn(({ applicationUsername }) => applicationUsername),
  { title: 'State in the store', render: ({ state }) => <Badge>{state}</Badge> },
];

/** The service processes a change of the stores, or of the clock, within seconds. */
const settlingMs = 15_000;

/** Returns whether `version` changed recently, so that the service may not have processed the change. */
function useSettling(version: string | undefined): boolean {
  const [isSettling, setSettling] = useState(true);
  useEffect(() => {
    setSettling(true);
    const timer = setTimeout(() => setSettling(false), settlingMs);
    return () => clearTimeout(timer);
  }, [version]);
  return isSettling;
}
