import { useEffect, useState } from 'preact/hooks';
import type { listRefundRequests, RefundRequestRecord } from '../../lib/refunds/contract.ts';
import { callApi, defineEndpoint } from '../api/client.ts';
import { useLoad } from '../api/use-api.ts';
import { getNow } from '../clock.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Page, Section } from '../components/layout.tsx';
import { EmptyState } from '../components/notice.tsx';
import { Badge, DateTime, None, type Tone } from '../components/values.tsx';
import { formatDuration, formatPlatform, formatProductId, isStore } from '../format.ts';
import { Link } from '../router.tsx';
import { useCanSupport } from '../session.ts';
import { buildCustomerColumn } from './customer-column.tsx';
import type { PageProps } from './page.ts';
import { PurchaseMenu } from './purchase-menu.tsx';
import { preferenceLabels, StatementButtons } from './statement-buttons.tsx';

const listEndpoint = defineEndpoint<typeof listRefundRequests>('GET', '/v3/refund-requests');

const loadPage = async (state: RefundRequestRecord['state'], signal: AbortSignal, cursor?: string) =>
  await callApi(listEndpoint, { query: { state, cursor, limit: 100 } }, { signal });

/** Loads all open requests, the nearest deadline first. */
async function loadOpen(signal: AbortSignal) {
  const rows: RefundRequestRecord[] = [];
  let cursor: string | undefined;
  // The last page has the nearest deadlines.
  do {
    const page = await loadPage('open', signal, cursor);
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows.sort((a, b) => a.deadline.localeCompare(b.deadline));
}

/** Loads the latest requests that are answered or expired, newest first. */
async function loadClosed(signal: AbortSignal) {
  const pages = await Promise.all([loadPage('answered', signal), loadPage('expired', signal)]);
  return pages.flatMap(({ rows }) => rows).sort((a, b) => b.requestedAt.localeCompare(a.requestedAt));
}

/** The refund requests of the stores: open ones with the time left and the buttons of a statement, then the rest. */
export function RefundRequestsPage(_props: PageProps) {
  const canAnswer = useCanSupport();
  const open = useLoad(loadOpen, 'open', { refreshMs: 10_000 });
  // A request that is not open any longer is closed.
  const closed = useLoad(loadClosed, 'closed', { revision: open.data?.map(({ id }) => id).join() });
  const buildTable = ({ data: rows, isStale, error, reload }: typeof open) => ({
    getKey: ({ id }: RefundRequestRecord) => id,
    renderMenu: ({ purchaseId }: RefundRequestRecord) => <PurchaseMenu purchaseId={purchaseId} />,
    rows,
    isStale,
    error,
    onRetry: reload,
  });
  return (
    <Page
      title="Refund requests"
      subtitle="Stores request a statement before they decide, and accept only the first one."
    >
      <Section title="Open">
        <DataTable
          {...buildTable(open)}
          caption="Open refund requests"
          columns={[purchaseColumn, buildStatementColumn(canAnswer, open.reload), timeLeftColumn, ...commonColumns]}
          empty={<EmptyState title="No store waits for a statement.">New requests appear here.</EmptyState>}
        />
      </Section>
      <Section title="Answered and expired">
        <DataTable
          {...buildTable(closed)}
          caption="Answered and expired refund requests"
          columns={[purchaseColumn, ...commonColumns, answerColumn, outcomeColumn]}
          empty={<EmptyState title="No request is closed yet.">The latest 100 of each appear here.</EmptyState>}
          fileName="refund-requests"
        />
      </Section>
    </Page>
  );
}

const purchaseColumn: Column<RefundRequestRecord> = {
  title: 'Purchase',
  render: ({ purchaseId, productId, platform }) => (
    <>
      <Link to="/purchases/:purchaseId" params={{ purchaseId }}>
        {productId === null ? purchaseId : formatProductId(productId)}
      </Link>
      <small class="quiet block">{formatPlatform(platform)}</small>
    </>
  ),
  csv: ({ purchaseId }) => purchaseId,
};

const commonColumns: readonly Column<RefundRequestRecord>[] = [
  buildCustomerColumn(({ applicationUsername }) => applicationUsername),
  { title: 'Reason', render: ({ reason }) => reason, csv: ({ reason }) => reason },
];

const timeLeftColumn: Column<RefundRequestRecord> = {
  title: 'Time left',
  render: ({ deadline }) => <Countdown deadline={deadline} />,
};

/** Time until the deadline. Changes each second. */
function Countdown({ deadline }: { readonly deadline: string }) {
  const [now, setNow] = useState(getNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(getNow()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const ms = Math.max(Date.parse(deadline) - now, 0);
  const hours = Math.floor(ms / 3_600_000);
  const text = hours > 0 ? `${hours} h ${Math.floor((ms % 3_600_000) / 60_000)} min` : formatDuration(ms);
  return (
    <span class="number">
      <Badge tone={hours < 2 ? 'warn' : 'neutral'}>{text}</Badge>
      <small class="quiet block">
        <DateTime value={deadline} kind="minute" />
      </small>
    </span>
  );
}

const buildStatementColumn = (canAnswer: boolean, onDone: () => void): Column<RefundRequestRecord> => ({
  title: 'Statement',
  render: (request) => (
    <div class="wrap">
      {request.preparedAnswer && (
        <p>
          <strong>{preferenceLabels[request.preparedAnswer.preference]}</strong>: {request.preparedAnswer.why.join(' ')}
        </p>
      )}
      {canAnswer && <StatementButtons request={request} onDone={onDone} />}
    </div>
  ),
});

const answerColumn: Column<RefundRequestRecord> = {
  title: 'Statement',
  render: ({ answer, state }) =>
    answer ? (
      <>
        {preferenceLabels[answer.preference]},{' '}
        {answer.answeredBy.type === 'policy' ? 'by policy' : answer.answeredBy.name}{' '}
        {answer.sentAt === null ? (
          <Badge tone="warn">Not sent</Badge>
        ) : (
          <DateTime value={answer.sentAt} kind="minute" />
        )}
      </>
    ) : (
      <Badge tone="neutral">{state === 'expired' ? 'None' : state}</Badge>
    ),
  csv: ({ answer }) => answer?.preference,
};

const outcomeTones: Readonly<Record<string, Tone>> = { refunded: 'bad', declined: 'good', reversed: 'info' };

const outcomeColumn: Column<RefundRequestRecord> = {
  title: 'Outcome',
  render: ({ platform, outcome, outcomeAt }) =>
    outcome === null || outcomeAt === null ? (
      <MissingOutcome platform={platform} />
    ) : (
      <>
        <Badge tone={outcomeTones[outcome] ?? 'neutral'}>{outcome}</Badge> <DateTime value={outcomeAt} kind="minute" />
      </>
    ),
  csv: ({ outcome }) => outcome ?? undefined,
};

const MissingOutcome = ({ platform }: Pick<RefundRequestRecord, 'platform'>) =>
  isStore(platform, 'store_b') ? <span class="quiet">Google Play reports refunds only</span> : <None />;
