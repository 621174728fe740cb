import { useState } from 'preact/hooks';
import type { TimelineRecord } from '../../../lib/api/timeline-records.ts';
import { useAction } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { Row } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Timeline } from '../../components/timeline.tsx';
import { changeQuery, Link } from '../../router.tsx';
import { type HistoryEntry, historyKinds, type PurchaseLifecycle, toHistory } from './to-history.ts';

export interface HistoryPage {
  /** Newest first. */
  readonly rows: readonly TimelineRecord[];
  readonly nextCursor?: string;
}

interface HistoryProps {
  readonly label: string;
  /** The newest rows. Undefined while they are loading. */
  readonly newest: HistoryPage | undefined;
  readonly loadOlder: (cursor: string) => Promise<HistoryPage>;
  readonly lifecycles?: readonly PurchaseLifecycle[];
  /** Selected kind of entries, in the query of the URL. */
  readonly kind: string | undefined;
  /** Whether entries link to their purchase. */
  readonly linksPurchases?: boolean;
}

/** The timeline of a purchase or of a customer, which can be limited to one kind of entries. */
export function History({ label, newest, loadOlder, lifecycles, kind, linksPurchases = false }: HistoryProps) {
  const [older, setOlder] = useState<HistoryPage>({ rows: [] });
  const nextCursor = older.rows.length > 0 ? older.nextCursor : newest?.nextCursor;
  const { run, isRunning, error } = useAction(async (cursor: string) => {
    const { rows, ...page } = await loadOlder(cursor);
    setOlder((state) => ({ ...page, rows: [...state.rows, ...rows] }));
  });
  if (!newest) return <Skeleton lines={8} />;
  const rows = [...newest.rows, ...older.rows];
  const entries = toHistory(rows, lifecycles).filter(({ date }) => nextCursor === undefined || date >= getOldest(rows));
  const selected = historyKinds.find(([id]) => id === kind)?.[0];
  const matching = selected === undefined ? entries : entries.filter((entry) => entry.kind === selected);
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
      </Row>
      {matching.length === 0 ? (
        <EmptyState title="There is nothing of this kind.">
          The log of events ends after its retention. Payments and lifecycle stay.
        </EmptyState>
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
      {nextCursor !== undefined && (
        <Button onClick={() => run(nextCursor)} isBusy={isRunning}>
          Show older entries
        </Button>
      )}
    </>
  );
}

/** Entries that are older than the loaded rows would be between rows that are not loaded. */
const getOldest = (rows: readonly TimelineRecord[]): string => rows.at(-1)?.date ?? '';

const Title = ({ entry: { eventId, title } }: { readonly entry: HistoryEntry }) =>
  eventId === undefined ? (
    title
  ) : (
    <Link to="/events/:id" params={{ id: eventId }}>
      {title}
    </Link>
  );

function Detail({ entry, linksPurchases }: { readonly entry: HistoryEntry; readonly linksPurchases: boolean }) {
  const { detail, purchaseId } = entry;
  if (!linksPurchases || purchaseId === undefined) return <>{detail}</>;
  return (
    <Link to="/purchases/:id" params={{ id: purchaseId }}>
      {detail ?? purchaseId}
    </Link>
  );
}
