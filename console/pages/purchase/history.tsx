import type { TimelineRecord } from '../../../lib/purchases/timeline-contract.ts';
import type { CursorPage } from '../../api/cursor-pages.ts';
import { useAutomaticPages, useCursorPages } from '../../api/use-cursor-pages.ts';
import { Button } from '../../components/button.tsx';
import type { CsvColumn } from '../../components/csv.ts';
import { CsvButton } from '../../components/csv-button.tsx';
import { ToggleField } from '../../components/fields.tsx';
import { Row } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Timeline } from '../../components/timeline.tsx';
import { changeQuery, Link } from '../../router.tsx';
import { getTimelineRowId, type HistoryEntry, historyKinds, type PurchaseLifecycle, toHistory } from './to-history.ts';

export type HistoryPage = CursorPage<TimelineRecord>;

interface HistoryProps {
  readonly label: string;
  /** The newest rows. Undefined while they are loading. */
  readonly newest: HistoryPage | undefined;
  readonly loadOlder: (cursor: string) => Promise<HistoryPage>;
  readonly lifecycles?: readonly PurchaseLifecycle[];
  /** Selected kind of entries, in the query of the URL. */
  readonly kind: string | undefined;
  /** Refreshes that found no change are shown. */
  readonly showsRefreshes: boolean;
  readonly linksPurchases?: boolean;
}

/** The timeline of a purchase or of a customer, which can be limited to one kind of entries. */
export function History(props: HistoryProps) {
  const { label, newest, loadOlder, lifecycles, kind, showsRefreshes, linksPurchases = false } = props;
  const pages = useCursorPages({ newest, loadPage: loadOlder, getId: getTimelineRowId });
  const { rows, hasOlder, isLoadingOlder, error } = pages;
  const entries = rows && toHistory(rows, lifecycles).filter(({ date }) => !hasOlder || isInRange(date, rows));
  const selected = historyKinds.find(([id]) => id === kind)?.[0];
  const matching = entries?.filter(
    (entry) => (selected === undefined || entry.kind === selected) && (showsRefreshes || !entry.isUnchanged),
  );
  const isSearching = useAutomaticPages(pages, matching?.length === 0, selected);
  if (!matching) return <Skeleton lines={8} />;
  return (
    <>
      <Row>
        <Button kind="quiet" isPressed={selected === undefined} onClick={() => changeQuery({ kind: '' })}>
          Everything
        </Button>
        {historyKinds.map(([id, name]) => (
          <Button key={id} kind="quiet" isPressed={selected === id} onClick={() => changeQuery({ kind: id })}>
            {name}
          </Button>
        ))}
        <ToggleField
          label="Refreshes without a change"
          isOn={showsRefreshes}
          onChange={(isOn) => changeQuery({ refreshes: isOn ? 'true' : '' })}
        />
      </Row>
      {matching.length === 0 ? (
        <NoEntries isSearching={isSearching} isFiltered={selected !== undefined} hasOlder={hasOlder} />
      ) : (
        <Timeline
          label={label}
          entries={matching.map((entry) => ({
            id: entry.id,
            date: entry.date,
            tone: entry.tone,
            title: <Title entry={entry} />,
            detail: <Detail entry={entry} linksPurchases={linksPurchases} />,
          }))}
        />
      )}
      <ErrorNotice error={error} />
      <Row>
        {hasOlder && (
          <Button onClick={pages.loadOlder} isBusy={isLoadingOlder}>
            Show older entries
          </Button>
        )}
        {matching.length > 0 && <CsvButton fileName="timeline" columns={csvColumns} rows={matching} />}
      </Row>
    </>
  );
}

const csvColumns: readonly CsvColumn<HistoryEntry>[] = [
  { title: 'Date', csv: ({ date }) => date },
  { title: 'Kind', csv: ({ kind }) => kind },
  { title: 'Title', csv: ({ title }) => title },
  { title: 'Detail', csv: ({ detail }) => detail },
  { title: 'Purchase', csv: ({ purchaseId }) => purchaseId },
  { title: 'Event id', csv: ({ eventId }) => eventId },
];

interface NoEntriesProps {
  readonly isSearching: boolean;
  readonly isFiltered: boolean;
  readonly hasOlder: boolean;
}

function NoEntries({ isSearching, isFiltered, hasOlder }: NoEntriesProps) {
  if (isSearching) return <Skeleton lines={8} />;
  if (hasOlder)
    return (
      <EmptyState title={isFiltered ? 'No loaded entry is of this kind.' : 'The latest events are reads.'}>
        Show older entries to search further.
      </EmptyState>
    );
  return (
    <EmptyState title={isFiltered ? 'There is nothing of this kind.' : 'There are no entries.'}>
      The log of events ends after its retention. Payments and lifecycle stay.
    </EmptyState>
  );
}

/**
 * Returns whether a date is not before the loaded rows. Older lifecycle entries would be between rows that are not
 * loaded.
 */
function isInRange(date: string, rows: readonly TimelineRecord[]): boolean {
  const oldest = rows.at(-1);
  return oldest !== undefined && date >= oldest.date;
}

function Title({ entry: { eventId, deliveryId, title } }: { readonly entry: HistoryEntry }) {
  if (deliveryId !== undefined)
    return (
      <Link to="/webhooks/:id" params={{ id: deliveryId }}>
        {title}
      </Link>
    );
  return eventId === undefined ? (
    title
  ) : (
    <Link to="/events/:id" params={{ id: eventId }}>
      {title}
    </Link>
  );
}

function Detail({ entry, linksPurchases }: { readonly entry: HistoryEntry; readonly linksPurchases: boolean }) {
  const { detail, purchaseId } = entry;
  if (!linksPurchases || purchaseId === undefined) return <>{detail}</>;
  return (
    <Link to="/purchases/:id" params={{ id: purchaseId }}>
      {detail ?? purchaseId}
    </Link>
  );
}
